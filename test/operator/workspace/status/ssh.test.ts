import { equal, is } from 'uvu/assert'
import { createKeyPair } from '../../../../src/adapters/ssh/index.ts'
import { ConfigMaps, WORKSPACE_IMAGE, type Workspace, Workspaces } from '../../../../src/api/index.ts'
import { targetLifecycle } from '../../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../../src/operator/workspace/index.ts'
import { gatewayIn, sshOf } from '../../../../src/operator/workspace/status/ssh.ts'
import { knownHost, NO_KNOWN_HOST } from '../../../../src/proxy/ssh/known-host.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { prepareNamespace, words } from '../fixture.ts'

const LINE = `ssh-ed25519 AAAA${'c'.repeat(64)}`
const told = (data: Record<string, string>) =>
  gatewayIn({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'berth-proxy-ssh' }, data })

describe('workspace: how it is reached over SSH', (it) => {
  it('believes what the proxies write, and nothing that is written otherwise', () => {
    const good = { host: 'ssh.example.com', port: '2222', hostKey: LINE }
    equal(told(good), { host: 'ssh.example.com', port: 2222, hostKeys: [LINE] })
    is(gatewayIn(undefined), undefined)
    const others = [
      { host: '-oProxyCommand=id' },
      { host: 'ssh.example.com\nProxyCommand id' },
      { host: 'ssh.example.com.' },
      { host: '' },
      { port: '0' },
      { port: '65536' },
      { port: '22 ' },
      { hostKey: `${LINE}\n@cert-authority * ${LINE}` },
      { hostKey: 'ssh-ed25519 AAAA' },
      { hostKey: '' },
    ]
    for (const other of others) equal([other, told({ ...good, ...other })], [other, undefined])
  })

  it('says nothing where the class lets nobody in, or none was found yet', () => {
    const gateway = { host: 'ssh.example.com', port: 22, hostKeys: [LINE] }
    const workspace: Workspace = {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'web', namespace: 'team-a' },
      spec: {},
    }
    equal(sshOf(workspace, gateway, {}), { user: 'web.team-a', ...gateway })
    is(sshOf(workspace, gateway, { proxy: { sshEnabled: false } }), undefined)
    is(sshOf(workspace, gateway), undefined)
    is(sshOf(workspace, undefined, {}), undefined)
  })
})

describe('workspace: its status says how it is reached over SSH', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let operator: RunningOperator
  const { create, becomes, expect } = words(cluster, () => namespace)
  const map = () => ({ name: 'berth-proxy-ssh', namespace })
  const address = { host: 'ssh.example.com', port: 2222 }

  it.before(async () => {
    namespace = await cluster.namespace('workspace-ssh')
    await prepareNamespace(cluster, namespace)
    const defaults = { image: WORKSPACE_IMAGE, namespace }
    const { kubeconfig } = cluster
    operator = await startOperator({
      ...{ kubeconfig, namespace },
      controllers: (context) => [claimBinding(context), targetLifecycle(context), workspaces(context, { defaults })],
    })
  })
  it.after(async () => {
    await operator.stop()
    await cluster.close()
  })

  it('for all as soon as the proxies say it, with another key when it has changed, and no more when they do not', async () => {
    for (const name of ['one', 'two']) {
      await create(name)
      is((await becomes(name, 'Running')).status?.ssh, undefined)
    }
    const all = (hostKeys: string[] | undefined) =>
      Promise.all(
        ['one', 'two'].map((name) =>
          expect(name, ({ status }) => JSON.stringify(status?.ssh?.hostKeys) === JSON.stringify(hostKeys)),
        ),
      )
    const [first, second] = [createKeyPair(), createKeyPair()]
    await kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: map() })
    const data = (key: typeof first) => ({ data: knownHost(key, address) })
    await kube.patch(ConfigMaps, map(), data(first))
    const [one] = await all([first.line])
    equal(one?.status?.ssh, { user: `one.${namespace}`, ...address, hostKeys: [first.line] })
    await kube.patch(ConfigMaps, map(), data(second))
    await all([second.line])
    await kube.patch(ConfigMaps, map(), { data: NO_KNOWN_HOST })
    await all(undefined)
    await kube.patch(ConfigMaps, map(), data(first))
    await all([first.line])
    // It ends with the workspace.
    await kube.patch(Workspaces, { name: 'two', namespace }, { spec: { desiredState: 'Terminated' } })
    is((await becomes('two', 'Terminated')).status?.ssh, undefined)
  })
})
