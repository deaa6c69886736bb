import { create, type DescMessage, type DescMethodUnary, type MessageInitShape } from '@bufbuild/protobuf'
import { SignJWT } from 'jose'
import { equal, is, match, not, ok } from 'uvu/assert'
import { createSigner, type JwtOptions } from '../../src/adapters/auth/index.ts'
import { dial } from '../../src/adapters/grpc/index.ts'
import { Agents, GitProjects, isTrue, Pods } from '../../src/api/index.ts'
import { numberOf } from '../../src/kas/projects/number.ts'
import { AgentTracker, type Batch, KasApi, Notifications } from '../../src/rpc/index.ts'
import { Secret, systemClock } from '../../src/std/index.ts'
import { runAgent } from '../agent/running-agent.ts'
import { steppedClock } from '../support/clock.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { rawAgent } from './raw-agent.ts'
import { secretFile } from './routing/kas-stage.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

const GITLAB = { issuer: 'gitlab', audience: 'gitlab-kas' }
const PUSH = Notifications.method.gitPushEvent

describe('the external endpoint of kas', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let namespace = ''
  let host: GitHost
  let secret: Awaited<ReturnType<typeof secretFile>>
  let kas: RunningKas
  const closing: (() => unknown)[] = []

  it.before(async () => {
    namespace = await cluster.namespace('external')
    host = await gitHost()
    secret = await secretFile()
    kas = await runKas({ kubeconfig, namespace, flags: { api: '127.0.0.1:0', apiSecret: secret.file, agentWait: '5' } })
  })
  it.afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  it.after(async () => {
    await kas.stop()
    await secret.remove()
    await host.close()
    await cluster.close()
  })

  type Token = () => Promise<Secret<string>>
  const signed = (by: Partial<JwtOptions> = {}): Token =>
    createSigner({ secret: secret.secret, ...GITLAB, clock: systemClock, ...by })
  const ask = async <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<NoInfer<I>>,
    token: Token | undefined = signed(),
  ) => {
    const connection = dial({ address: kas.addresses.api ?? '', token })
    try {
      return await connection.unary(method, create(method.input, request))
    } finally {
      connection.close()
    }
  }
  const idOf = async (name: string) => numberOf((await kube.get(Agents, { namespace, name }))?.metadata.uid ?? '')
  /** kas has seen the project. */
  const isReady = (name: string) =>
    expectObject(kube, GitProjects, { name, namespace }, ({ status }) => isTrue(status?.conditions, 'Ready'))
  /** An Agent, connected as GitLab's agents do. */
  const connected = async (name: string) => {
    const agent = rawAgent(kas.addresses.listen, await createAgent(kube, namespace, name))
    closing.push(() => agent.close())
    const agentMeta = { version: 'v16.5.0', commitId: 'abc', podNamespace: 'ns', podName: `${name}-0` }
    await eventually(() => agent.register({ agentMeta, podId: -7n }))
    return idOf(name)
  }

  it('proves every call: secret, algorithm, issuer, audience and time', async () => {
    const now = Math.floor(Date.now() / 1000)
    const jwt = () => new SignJWT().setIssuer('gitlab').setAudience('gitlab-kas')
    const foreign = { alg: 'HS512' }
    const other = await jwt().setProtectedHeader(foreign).setExpirationTime('5s').sign(secret.secret.reveal())
    const endless = await jwt().setProtectedHeader({ alg: 'HS256' }).sign(secret.secret.reveal())
    const WRONG: [reason: string, token: Token, why: string][] = [
      ['TokenForeign', signed({ issuer: 'gitlab-kas' }), 'a token between kas'],
      ['TokenForeign', signed({ issuer: '' }), 'no issuer'],
      ['TokenForeign', signed({ audience: 'gitlab' }), 'a token for GitLab'],
      ['TokenInvalid', signed({ secret: new Secret(new Uint8Array(32)) }), 'another secret'],
      ['TokenExpired', signed({ clock: steppedClock((now - 300) * 1000) }), 'an old one'],
      ['TokenForeign', signed({ clock: steppedClock((now + 300) * 1000) }), 'one that counts later'],
      ['TokenInvalid', async () => new Secret(other), 'another algorithm'],
      ['TokenForeign', async () => new Secret(endless), 'one without end'],
      ['TokenInvalid', async () => new Secret('a.b.c'), 'no JWT at all'],
    ]
    const calls = [
      (token: Token) => ask(AgentTracker.method.getConnectedAgents, { request: { case: 'agentId', value: 1n } }, token),
      (token: Token) => ask(PUSH, { event: { project: { fullPath: 'a/b' } } }, token),
      (token: Token) => ask(KasApi.method.connectedAgentsForProject, { projectId: 1n }, token),
      (token: Token) => ask(KasApi.method.connectedAgentsById, { agentId: 1n }, token),
      (token: Token) => ask(KasApi.method.getPods, { agentId: 1n }, token),
    ]
    for (const call of calls)
      for (const [reason, token, why] of WRONG) {
        const failure = await failureOf(() => call(token))
        equal([failure.code, failure.reason], ['unauthorized', reason], why)
      }
    const connection = dial({ address: kas.addresses.api ?? '' })
    closing.push(() => connection.close())
    const none = await failureOf(() => connection.unary(PUSH, create(PUSH.input)))
    is(none.reason, 'TokenMissing')
    equal((await ask(KasApi.method.connectedAgentsById, { agentId: 1n })).agents, [])
  })

  it('is not on the port of agents, and agents may not ask here', async () => {
    const token = await createAgent(kube, namespace, 'curious')
    const failure = await failureOf(() => ask(KasApi.method.connectedAgentsById, { agentId: 1n }, async () => new Secret(token)))
    is(failure.reason, 'TokenInvalid')
    const connection = dial({ address: kas.addresses.listen, token: signed() })
    closing.push(() => connection.close())
    is((await failureOf(() => connection.unary(PUSH, create(PUSH.input)))).reason, 'Unimplemented')
  })

  it('tells who is connected, by agent and by project', async () => {
    const repository = await host.repository('config')
    await repository.commit({ 'a.yaml': '0' })
    const project = await createProject(kube, namespace, 'config', { url: repository.url })
    const projectId = numberOf(project.metadata.uid ?? '')
    await isReady('config')
    const id = await connected('dev')
    await createAgent(kube, namespace, 'absent')

    const byAgent = async (value: bigint) =>
      (await ask(AgentTracker.method.getConnectedAgents, { request: { case: 'agentId', value } })).agents
    const [told] = await byAgent(id)
    equal([told?.agentId, told?.projectId, told?.connectionId], [id, projectId, -7n])
    equal([told?.agentMeta?.podName, told?.agentMeta?.version, told?.agentMeta?.commitId], ['dev-0', 'v16.5.0', 'abc'])
    equal(await byAgent(await idOf('absent')), [])
    const { agents: ofProject } = await ask(AgentTracker.method.getConnectedAgents, {
      request: { case: 'projectId', value: projectId },
    })
    equal(
      ofProject.map(({ agentId }) => agentId),
      [id],
    )

    const [short] = (await ask(KasApi.method.connectedAgentsById, { agentId: id })).agents
    equal(
      [short?.id, short?.connectionId, short?.version, short?.commit, short?.podNamespace, short?.podName, short?.kasAddress],
      [id, -7n, 'v16.5.0', 'abc', 'ns', 'dev-0', undefined],
    )
    ok(Math.abs(Number(short?.connectedAt?.seconds) - Date.now() / 1000) < 60)
    equal((await ask(KasApi.method.connectedAgentsForProject, { projectId })).agents, [short])
    equal((await ask(KasApi.method.connectedAgentsForProject, { projectId: projectId + 1n })).agents, [])
  })

  it('refuses questions about nobody', async () => {
    const asked = [
      () => ask(AgentTracker.method.getConnectedAgents, {}),
      () => ask(AgentTracker.method.getConnectedAgents, { request: { case: 'projectId', value: 0n } }),
      () => ask(KasApi.method.connectedAgentsForProject, {}),
      () => ask(KasApi.method.connectedAgentsById, { agentId: -1n }),
      () => ask(KasApi.method.getPods, {}),
      () => ask(PUSH, {}),
      () => ask(PUSH, { event: { project: { id: 7n } } }),
    ]
    for (const one of asked) equal((await failureOf(one)).reason, 'InvalidRequest')
  })

  it('makes kas look at once where somebody has pushed', async () => {
    const repository = await host.repository('shop')
    await repository.commit({ 'a.yaml': '0' })
    await createProject(kube, namespace, 'shop', { url: repository.url, pollInterval: '1h' })
    await isReady('shop')
    const token = await createAgent(kube, namespace, 'reader')
    const ending = new AbortController()
    const got: Batch[] = []
    const wanted = { projectId: `${namespace}/shop`, ref: { kind: 'default' as const }, globs: ['**'] }
    const following = kas.stream(token).follow(wanted, { onBatch: (batch) => void got.push(batch), signal: ending.signal })
    closing.push(async () => {
      ending.abort()
      await following
    })
    await eventually(() => got.length === 1)
    const commit = await repository.commit({ 'a.yaml': '1' })
    await ask(PUSH, { event: { project: { id: 1n, fullPath: `${namespace}/other` } } })
    await ask(PUSH, { event: { project: { id: 99n, fullPath: `${namespace}/shop` } } })
    await eventually(() => got.at(-1)?.commitId === commit)
  })

  it('lists the pods of a cluster through its agent', async () => {
    const target = await cluster.namespace('target')
    for (const name of ['one', 'two'])
      await kube.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: target }, spec: SPEC })
    const token = await createAgent(kube, namespace, 'real')
    const agent = await runAgent({ kas: `grpc://${kas.addresses.listen}`, kubeconfig, namespace: target, token })
    closing.push(() => agent.stop())
    // It is waited for no longer than 5 s here, from its start on that may be too short.
    const agentId = await idOf('real')
    await eventually(async () => (await ask(KasApi.method.connectedAgentsById, { agentId })).agents.length === 1)
    const { pods } = await ask(KasApi.method.getPods, { agentId })
    equal(
      pods.filter((pod) => pod.namespace === target).map(({ name }) => name),
      ['one', 'two'],
    )
  })

  it('waits for an agent, and tells when none has come', async () => {
    const failure = await failureOf(() => ask(KasApi.method.getPods, { agentId: 12345n }))
    equal([failure.code, failure.reason], ['timeout', 'AgentNotConnected'])
  })

  it('counts what is asked, and writes no secret into its log', async () => {
    const text = await (await fetch(`http://${kas.addresses.operations}/metrics`)).text()
    match(text, /berth_kas_external_calls_total\{method="GetPods",outcome="timeout"\} 1\n/)
    match(text, /berth_kas_external_calls_total\{method="GitPushEvent",outcome="ok"\} 2\n/)
    not.match(kas.log(), Buffer.from(secret.secret.reveal()).toString('base64'))
  })

  it('is off without a secret, and kas does not start with a bad one', async () => {
    const quiet = await runKas({ kubeconfig, namespace })
    is(quiet.addresses.api, undefined)
    await quiet.stop()
    const start = (apiSecret: string) => runKas({ kubeconfig, namespace, flags: { api: '127.0.0.1:0', apiSecret } })
    match((await failureOf(() => start('/no/such/file'))).remedy ?? '', '--api-secret')
    match((await failureOf(() => start(kubeconfig))).message, '32 bytes')
  })
})

const SPEC = { containers: [{ name: 'main', image: 'none' }], automountServiceAccountToken: false }
