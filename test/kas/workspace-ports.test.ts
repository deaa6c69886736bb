import { create } from '@bufbuild/protobuf'
import { is } from 'uvu/assert'
import { type CallOptions, dial, type GrpcConnection } from '../../src/adapters/grpc/index.ts'
import { gitAudienceOf, tunnelAudienceOf, type Workspace, Workspaces } from '../../src/api/index.ts'
import { CONNECT_PORT, ConnectRequestSchema, PORT_KEYS, ReverseTunnel } from '../../src/rpc/index.ts'
import { Failure, Secret } from '../../src/std/index.ts'
import { givePod, podToken } from '../operator/workspace/git/pod.ts'
import { accountToken } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { createAgent, type RunningKas, runKas } from './running-kas.ts'

const endOf = async (responses: AsyncIterable<unknown>): Promise<string> => {
  try {
    await responses[Symbol.asyncIterator]().next()
    return 'let in'
  } catch (thrown) {
    const { code, reason, message } = Failure.from(thrown)
    return /evil/.test(message) ? message : `${code} ${reason}`
  }
}

describe('kas: tunnels of workspaces', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let kas: RunningKas
  let own: Workspace
  let other: Workspace
  let proxy = ''
  const open: GrpcConnection[] = []
  it.before(async () => {
    namespace = await cluster.namespace('ports')
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { proxy: `${namespace}/proxy`, agentWait: '1' } })
    own = await published('own')
    other = await published('other')
    proxy = await accountToken(cluster.kube, namespace, 'proxy', ['berth-kas'])
  })
  it.after(async () => {
    for (const connection of open) connection.close()
    await kas.stop()
    await cluster.close()
  })

  const published = async (name: string): Promise<Workspace> => {
    const { kube } = cluster
    const metadata = { name, namespace }
    await givePod(
      kube,
      await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata, spec: {} }),
    )
    const target = { namespace, apiURL: kube.server }
    const ports = [{ name: 'app', port: 3000, url: `https://3000-${name}.ws.example.com/` }]
    return kube.patch(Workspaces, metadata, { status: { actualState: 'Running', target, ports } }, { subresource: 'status' })
  }
  const tokenFor = (workspace: Workspace, how: Parameters<typeof podToken>[2] = {}) =>
    podToken(cluster.kube, workspace, { audience: tunnelAudienceOf(workspace.metadata.uid ?? ''), ...how })
  const dialled = (token: string): GrpcConnection => {
    const connection = dial({ address: kas.addresses.listen, token: async () => new Secret(token) })
    open.push(connection)
    return connection
  }
  const metrics = async () => (await fetch(`http://${kas.addresses.operations}/metrics`)).text()
  /** A tunnel of a pod that answers connections to ports; `undefined` as long as it waits. */
  const tunnel = async (token: string, of: string) => {
    const call = await dialled(token).duplex(ReverseTunnel.method.connect, { metadata: { [PORT_KEYS.tunnelOf]: [of] } })
    const services = [{ name: 'berth.workspaces.rpc.Ports', methods: [{ name: 'Connect' }] }]
    const msg = { case: 'descriptor' as const, value: { agentDescriptor: { services } } }
    void call.send(create(ConnectRequestSchema, { msg }))
    return call
  }
  const refusal = async (token: string, of: string): Promise<string> => {
    const call = await tunnel(token, of)
    return endOf(call.responses)
  }
  const asked = async (token: string, metadata: CallOptions['metadata']): Promise<string> => {
    const call = await dialled(token).duplexRaw(CONNECT_PORT, { metadata })
    return endOf(call.responses)
  }
  const portOf = ({ metadata }: Workspace, port: string) => ({
    [PORT_KEYS.workspace]: [metadata.uid ?? ''],
    [PORT_KEYS.port]: [port],
  })

  it('are opened with the token of a pod of that very workspace, made for that, and with no other', async () => {
    const name = `${namespace}/own`
    const stranger = 'forbidden NotItsPod'
    const agent = await createAgent(cluster.kube, namespace, 'dev')
    const tries: [why: string, token: string, of: string, expected: string][] = [
      ['of another workspace', await tokenFor(other), name, stranger],
      ['for another workspace', await tokenFor(own), `${namespace}/other`, stranger],
      ['made for Git', await tokenFor(own, { audience: gitAudienceOf(own.metadata.uid ?? '') }), name, stranger],
      ['made for kas', await tokenFor(own, { audience: 'berth-kas' }), name, stranger],
      ['bound to no pod', await tokenFor(own, { bound: false }), name, stranger],
      ['of an agent', agent, name, stranger],
      ['made up', 'nonsense', name, stranger],
      ['for no workspace', await tokenFor(own), `${namespace}/none`, stranger],
      ['for a name that is none', await tokenFor(own), '../own', stranger],
    ]
    for (const [why, token, of, expected] of tries) is(await refusal(token, of), expected, why)
  })

  it('are asked for by the proxy alone, and lead to ports that are published alone', async () => {
    const somebody = await accountToken(cluster.kube, namespace, 'somebody', ['berth-kas'])
    is(await asked(somebody, portOf(own, '3000')), 'forbidden NotTheProxy')
    is(await asked(await tokenFor(own), portOf(own, '3000')), 'unauthorized TokenUnknown')
    for (const port of ['3001', '22', '65535']) is(await asked(proxy, portOf(own, port)), 'not-found PortNotDeclared', port)
    for (const port of ['0', '65536', '-1', '3000.0', '03000', '', 'x', '3000,3001'])
      is(await asked(proxy, portOf(own, port)), 'invalid InvalidRequest', port)
    is(await asked(proxy, { ...portOf(own, '3000'), [PORT_KEYS.workspace]: ['nobody'] }), 'not-found PortNotDeclared')
    // kas may hear of the port only now.
    await eventually(async () => (await asked(proxy, portOf(own, '3000'))) === 'unavailable NotConnected')
  })

  it('pass on nothing of what a pod says is wrong, and end with the workspace', async () => {
    const name = `${namespace}/own`
    const call = await tunnel(await tokenFor(own), name)
    const incoming = call.responses[Symbol.asyncIterator]()
    // Who asks waits no more than a second for it.
    const isIdle = () => eventually(async () => /berth_kas_idle_tunnels 1/.test(await metrics()))
    await isIdle()
    const answer = asked(proxy, portOf(own, '3000'))
    await incoming.next()
    const status = { code: 16, message: 'sign in at evil.example' }
    await call.send(create(ConnectRequestSchema, { msg: { case: 'header', value: {} } }))
    await call.send(create(ConnectRequestSchema, { msg: { case: 'trailer', value: {} } }))
    await call.send(create(ConnectRequestSchema, { msg: { case: 'error', value: { status } } }))
    call.closeSend()
    is(await answer, 'unavailable Closed')
    const idle = await tunnel(await tokenFor(own), name)
    // It may be over before the change to the Workspace is answered.
    const ended = idle.responses[Symbol.asyncIterator]()
      .next()
      .catch((thrown: unknown) => Failure.from(thrown).reason)
    await isIdle()
    await cluster.kube.patch(Workspaces, { name: 'own', namespace }, { spec: { desiredState: 'Stopped' } })
    is(await ended, 'TokenRevoked')
    is(await refusal(await tokenFor(own), name), 'forbidden NotItsPod')
  })
})
