import { createHash, randomBytes } from 'node:crypto'
import { equal, is, match, ok } from 'uvu/assert'
import { Agents, conditionOf, GitProjects } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { signers } from '../support/signers.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { codes, rawAgent } from './raw-agent.ts'
import { createAgent, createProject, createSecret, type RunningKas, runKas } from './running-kas.ts'

const APP = 'gitops: { manifest_projects: [{ id: team/app }] }\n'
const meta = (podName: string) => ({ version: 'v16.5.0', commitId: 'abc', podNamespace: 'ns', podName })

describe('kas: agent configuration', (it) => {
  const cluster = testCluster()
  let host: GitHost
  let kas: RunningKas
  let namespace = ''
  const agents: ReturnType<typeof rawAgent>[] = []

  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
  })
  it.after(async () => {
    for (const agent of agents) agent.close()
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  const connect = (token: string) => {
    const agent = rawAgent(kas.addresses.listen, token)
    agents.push(agent)
    return agent
  }

  /** An Agent with a configuration project of its own that has these files. */
  const given = async (name: string, files?: Record<string, string>, more: { spec?: object } = {}) => {
    const repository = await host.repository(name)
    if (files) await repository.commit(files)
    const path = `${namespace}/${name}`
    await createProject(cluster.kube, namespace, name, { url: repository.url, pollInterval: '1s', ...more.spec })
    const token = await createAgent(cluster.kube, namespace, name, { configurationProject: path })
    const agent = connect(token)
    // kas has to hear of both first.
    await expectObject(cluster.kube, GitProjects, { name, namespace }, ({ status }) => status?.conditions)
    await eventually(() => agent.register({ podId: 1n, agentMeta: meta('known') }))
    await expectObject(cluster.kube, Agents, { name, namespace }, ({ status }) => status?.connectedPods?.length === 1)
    return { repository, agent, path, token, file: `.berth/agents/${name}/config.yaml` }
  }

  const shown = (name: string, check: Parameters<typeof expectObject<import('../../src/api/index.ts').Agent>>[3]) =>
    expectObject(cluster.kube, Agents, { name, namespace }, check)
  const validity = (name: string, reason: string) =>
    shown(name, ({ status }) => conditionOf(status?.conditions, 'ConfigurationValid')?.reason === reason)

  it('sends the configuration of a commit in the shape of 14 and 16, and stays open', async () => {
    const { repository, agent, path, file } = await given('shapes', {
      '.berth/agents/shapes/config.yaml': `${APP.replace('team/app', 'a/b')}`,
    })
    const [old, now] = [
      agent.configuration({ agentMeta: meta('old') }),
      agent.configuration({ skipRegister: true, agentMeta: meta('new') }),
    ]
    for (const stream of [old, now]) {
      const [first] = await eventually(() => stream.responses.length > 0 && stream.responses)
      is(first?.configuration?.projectPath, path)
      ok(first?.configuration && first.configuration.agentId > 0n && first.configuration.projectId > 0n)
      is(first.configuration.gitops?.manifestProjects[0]?.id, 'a/b')
    }
    const second = await repository.commit({ [file]: 'gitops: { manifest_projects: [{}] }' })
    for (const stream of [old, now]) {
      const last = await eventually(() => stream.responses[1])
      is(last.commitId, second)
      is(last.configuration?.gitops?.manifestProjects[0]?.id, path)
      stream.cancel()
    }
  })

  it('sends nothing to an agent that has the commit', async () => {
    const { repository, agent, file } = await given('same', { '.berth/agents/same/config.yaml': APP })
    const first = agent.configuration()
    const { commitId = '' } = await eventually(() => first.responses[0])
    first.cancel()
    const again = agent.configuration({ commitId })
    const next = await repository.commit({ [file]: 'flux: {}' })
    is((await eventually(() => again.responses[0])).commitId, next)
    again.cancel()
  })

  it('keeps the configuration of the last signed commit, and says which newer one is refused', async () => {
    const people = await signers()
    try {
      const { sign, public: key } = await people.ssh('ann@example.com')
      await createSecret(cluster.kube, namespace, 'signers', { 'ann.pub': key })
      const verify = { mode: 'HEAD' as const, secretRef: { name: 'signers' } }
      const { repository, agent, file } = await given('signed', undefined, { spec: { verify } })
      const first = await repository.commit({ [file]: APP }, 'main', { sign })
      const stream = agent.configuration()
      is((await eventually(() => stream.responses[0])).commitId, first)
      const unsigned = await repository.commit({ [file]: APP.replace('team/app', 'team/other') })
      const { status } = await validity('signed', 'CommitNotSigned')
      match(conditionOf(status?.conditions, 'ConfigurationValid')?.message ?? '', unsigned)
      // Who comes now is configured by what is in effect.
      const late = agent.configuration()
      is((await eventually(() => late.responses[0])).commitId, first)
      is(stream.responses.length, 1)
      const signed = await repository.commit({ [file]: APP.replace('team/app', 'team/third') }, 'main', { sign })
      is((await eventually(() => stream.responses[1])).commitId, signed)
      await validity('signed', 'Valid')
      stream.cancel()
      late.cancel()
    } finally {
      await people.close()
    }
  })

  it('reads the file where GitLab has it, and prefers its own place', async () => {
    const { repository, agent, file } = await given('fallback', { '.gitlab/agents/fallback/config.yaml': APP })
    const stream = agent.configuration()
    is((await eventually(() => stream.responses[0])).configuration?.gitops?.manifestProjects[0]?.id, 'team/app')
    await repository.commit({ [file]: APP.replace('team/app', 'own/place') })
    is((await eventually(() => stream.responses[1])).configuration?.gitops?.manifestProjects[0]?.id, 'own/place')
    await shown('fallback', ({ status }) => status?.configuration?.path === file)
    stream.cancel()
  })

  it('sends the empty configuration when there is no file, and nothing while there is no commit', async () => {
    const { repository, agent } = await given('nothing')
    const stream = agent.configuration()
    await validity('nothing', 'RepositoryEmpty')
    is(stream.responses.length, 0)
    await repository.commit({ 'readme.md': 'hello' })
    const first = await eventually(() => stream.responses[0])
    is(first.configuration?.gitops, undefined)
    await validity('nothing', 'FileMissing')
    stream.cancel()
  })

  it('shows mistakes with line and column, keeps what was good, and takes the mended file', async () => {
    const { repository, agent, file } = await given('mended', { '.berth/agents/mended/config.yaml': APP })
    const berth = agent.configuration({ berth: true, skipRegister: true, agentMeta: meta('berth') })
    const other = agent.configuration({ skipRegister: true, agentMeta: meta('other') })
    const good = await eventually(() => berth.responses[0])
    await eventually(() => other.responses[0])
    const bad = await repository.commit({ [file]: 'gitops:\n  manifest_projects:\n    - idd: x\n      prune: 1\n' })
    is((await other.end).code, codes.FAILED_PRECONDITION)
    match((await other.end).details, 'line 3, column 7')
    const { status } = await validity('mended', 'ConfigurationInvalid')
    equal(status?.configuration, {
      commit: good.commitId,
      path: file,
      rejectedCommit: bad,
      errors: [
        { line: 3, column: 7, message: status?.configuration?.errors?.[0]?.message ?? '' },
        { line: 4, column: 14, message: 'gitops.manifest_projects[0].prune is 1; write true or false' },
      ],
    })
    match(conditionOf(status?.conditions, 'Ready')?.message ?? '', 'line 3, column 7')
    const mended = await repository.commit({ [file]: APP })
    is((await eventually(() => berth.responses[1])).commitId, mended)
    equal((await validity('mended', 'Valid')).status?.configuration, { commit: mended, path: file })
    berth.cancel()
  })

  it('sends no keys of its own to an agent that does not know them', async () => {
    const { agent } = await given('simple', { '.berth/agents/simple/config.yaml': 'gitops: { namespaces: [web] }' })
    const other = agent.configuration({ skipRegister: true })
    is((await other.end).code, codes.FAILED_PRECONDITION)
    const { status } = await validity('simple', 'AgentTooSimple')
    const commit = status?.configuration?.rejectedCommit ?? 'none'
    match(
      conditionOf(status?.conditions, 'ConfigurationValid')?.message ?? '',
      `config.yaml of ${commit.slice(0, 8)}: the connected`,
    )
    match(status?.configuration?.errors?.[0]?.message ?? '', 'gitops.namespaces')
    const berth = agent.configuration({ berth: true })
    equal((await eventually(() => berth.responses[0])).configuration?.gitops?.namespaces, ['web'])
    await validity('simple', 'Valid')
    berth.cancel()
  })

  it('says at once that an agent may not read its configuration any more, though it does not ask', async () => {
    const { agent, path } = await given('barred', { '.berth/agents/barred/config.yaml': APP }, { spec: { pollInterval: '1h' } })
    const stream = agent.configuration({ agentMeta: meta('known') })
    await validity('barred', 'Valid')
    stream.cancel()
    await stream.end
    await cluster.kube.patch(GitProjects, { name: 'barred', namespace }, { spec: { path: `${path}-elsewhere` } })
    const { status } = await validity('barred', 'ProjectNotAccessible')
    match(conditionOf(status?.conditions, 'Ready')?.message ?? '', `add Agent ${namespace}/barred to spec.grants.agents`)
    await cluster.kube.patch(GitProjects, { name: 'barred', namespace }, { spec: { path } })
    await validity('barred', 'NotRead')
    const again = agent.configuration({ agentMeta: meta('known') })
    await validity('barred', 'Valid')
    again.cancel()
  })

  it('ends the streams of a token that is removed, at once', async () => {
    const { agent } = await given('revoked', { '.berth/agents/revoked/config.yaml': APP }, { spec: { pollInterval: '1h' } })
    const stream = agent.configuration()
    await eventually(() => stream.responses[0])
    await cluster.kube.patch(Agents, { name: 'revoked', namespace }, { spec: { tokens: [] } })
    is((await stream.end).code, codes.UNAUTHENTICATED)
    is((await agent.configuration().end).code, codes.UNAUTHENTICATED)
  })

  it('ends the streams of an agent that is deleted', async () => {
    const { agent } = await given('deleted', { '.berth/agents/deleted/config.yaml': APP }, { spec: { pollInterval: '1h' } })
    const stream = agent.configuration()
    await eventually(() => stream.responses[0])
    await cluster.kube.delete(Agents, { name: 'deleted', namespace })
    is((await stream.end).code, codes.UNAUTHENTICATED)
  })

  it('ends the streams of a token when it expires', async () => {
    const { agent } = await given('expiring', { '.berth/agents/expiring/config.yaml': APP }, { spec: { pollInterval: '1h' } })
    const stream = agent.configuration()
    await eventually(() => stream.responses[0])
    const tokens = (await cluster.kube.get(Agents, { name: 'expiring', namespace }))?.spec.tokens ?? []
    const expiresAt = new Date(Date.now() + 2000).toISOString()
    await cluster.kube.patch(
      Agents,
      { name: 'expiring', namespace },
      { spec: { tokens: tokens.map((token) => ({ ...token, expiresAt })) } },
    )
    is((await stream.end).code, codes.UNAUTHENTICATED)
    ok(Date.now() >= Date.parse(expiresAt))
  })

  it('tells a stranger the same whatever the token was', async () => {
    const expired = await createAgent(cluster.kube, namespace, 'expired', { expiresAt: '2020-01-01T00:00:00Z' })
    await expectObject(cluster.kube, Agents, { name: 'expired', namespace }, ({ status }) => status?.conditions)
    const ends = await Promise.all([expired, 'nonsense', 'x'.repeat(5000)].map((token) => connect(token).configuration().end))
    equal(new Set(ends.map((end) => JSON.stringify(end))).size, 1)
    is(ends[0]?.code, codes.UNAUTHENTICATED)
  })

  it('follows the default branch when another one becomes it, and another project when the Agent names one', async () => {
    const { repository, agent, file, path } = await given('branches', { '.berth/agents/branches/config.yaml': APP })
    const stream = agent.configuration()
    await eventually(() => stream.responses[0])
    const side = await repository.commit({ [file]: APP.replace('team/app', 'on/side') }, 'side')
    await cluster.kube.patch(GitProjects, { name: 'branches', namespace }, { spec: { defaultBranch: 'side' } })
    const second = await eventually(() => stream.responses[1])
    equal([second.commitId, second.configuration?.gitops?.manifestProjects[0]?.id], [side, 'on/side'])
    await createProject(cluster.kube, namespace, 'branches-again', { url: repository.url, defaultBranch: 'side' })
    await cluster.kube.patch(
      Agents,
      { name: 'branches', namespace },
      { spec: { configurationProject: `${namespace}/branches-again` } },
    )
    const third = await eventually(() => stream.responses[2])
    equal([third.commitId, third.configuration?.projectPath], [side, `${path}-again`])
    stream.cancel()
  })

  it('asks the Git server once for all agents of a project', async () => {
    const repository = await host.repository('crowd')
    await repository.commit({ '.berth/agents/crowd-0/config.yaml': APP })
    await createProject(cluster.kube, namespace, 'crowd', { url: repository.url, pollInterval: '1h' })
    const path = `${namespace}/crowd`
    await expectObject(cluster.kube, GitProjects, { name: 'crowd', namespace }, ({ status }) => status?.conditions)
    const named = { configurationProject: path }
    const tokens = await Promise.all([0, 1, 2, 3].map((at) => createAgent(cluster.kube, namespace, `crowd-${at}`, named)))
    const crowd = tokens.map(connect)
    for (const agent of crowd) await eventually(() => agent.register({ podId: 1n }))
    const leading = crowd[0]?.configuration()
    await eventually(() => leading?.responses.length === 1)
    host.traffic()
    const streams = crowd.slice(1).map((agent) => agent.configuration())
    await eventually(() => streams.every(({ responses }) => responses.length === 1))
    is(host.traffic().requests, 0)
    for (const stream of [leading, ...streams]) stream?.cancel()
  })

  it('ends streams cleanly when they are old', async () => {
    const other = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { streamAge: '1' } })
    try {
      const { token } = await given('old', { '.berth/agents/old/config.yaml': APP })
      const agent = rawAgent(other.addresses.listen, token)
      agents.push(agent)
      // It may be old before the repository was read.
      await eventually(async () => {
        const one = agent.configuration()
        return (await one.end).code === codes.OK && one.responses.length === 1
      })
    } finally {
      await other.stop()
    }
  })

  it('shows the pods of one token, and forgets a pod that hangs up', async () => {
    const { agent } = await given('pods', { '.berth/agents/pods/config.yaml': APP })
    const [one, two] = [agent.configuration({ agentMeta: meta('one') }), agent.configuration({ agentMeta: meta('two') })]
    await agent.register({ podId: 22n, agentMeta: { ...meta('two'), kubernetesVersion: { gitVersion: 'v1.30.1' } } })
    const { status } = await shown('pods', (object) => {
      const pods = object.status?.connectedPods
      const second = pods?.find(({ name }) => name === 'two')
      equal([pods?.length, second?.podId, second?.version, second?.kubernetesVersion], [3, '22', 'v16.5.0', 'v1.30.1'])
    })
    is(conditionOf(status?.conditions, 'Connected')?.message, '3 pods are connected.')
    one.cancel()
    await shown('pods', (object) => object.status?.connectedPods?.length === 2)
    two.cancel()
  })

  it('shows a pod that has tunnels, before it asks for its configuration', async () => {
    const agent = connect(await createAgent(cluster.kube, namespace, 'bare'))
    await shown('bare', (object) => object.status?.conditions)
    const close = agent.tunnel()
    const { status } = await shown('bare', (object) => object.status?.connectedPods?.length === 1)
    equal([status?.connectedPods?.[0]?.name, conditionOf(status?.conditions, 'Connected')?.status], ['unnamed', 'True'])
    close()
    await shown('bare', (object) => object.status?.connectedPods === undefined)
  })

  it('writes reports into the status, and writes what has not changed no second time', async () => {
    const { agent } = await given('reports', { '.berth/agents/reports/config.yaml': APP })
    const project = { id: 'team/app', commitId: 'c'.repeat(40), objects: 3, health: 'Healthy', message: '\u001b[31mred\n' }
    const say = () => agent.report({ podName: 'known', configurationCommitId: 'x', projects: [project] })
    await say()
    const { status, metadata } = await shown('reports', (object) => object.status?.projects?.length === 1)
    equal(status?.projects, [{ id: 'team/app', commit: 'c'.repeat(40), objects: 3, health: 'Healthy', message: '[31mred' }])
    for (let at = 0; at < 20; at++) await say()
    const { agent: other } = await given('reports-after', {})
    // Written one after another, and a second apart: whatever the repeated reports would have caused has been written by then.
    for (const objects of [1, 2]) {
      await other.report({ projects: [{ id: 'x', objects }] })
      await shown('reports-after', (object) => object.status?.projects?.[0]?.objects === objects)
    }
    is((await cluster.kube.get(Agents, { name: 'reports', namespace }))?.metadata.resourceVersion, metadata.resourceVersion)
    await agent.report({ podName: 'known', projects: [] })
    await shown('reports', (object) => object.status?.projects === undefined)
  })

  it('answers requests of modules with 404', async () => {
    const { agent } = await given('modules', {})
    const { answers, end } = await agent.modules([Buffer.from('0a0c0a0a0a034745541a032f7878', 'hex'), Buffer.from('1a00', 'hex')])
    is(end.code, codes.OK)
    equal([answers.length, answers[1]?.toString('hex')], [2, '1a00'])
    match(answers[0]?.toString('latin1') ?? '', '404 Not Found')
    is((await connect('nobody').modules([])).end.code, codes.UNAUTHENTICATED)
  })

  it('listens to requests of modules no longer than their agent may be here', async () => {
    const { agent } = await given('module-revoked', {})
    const open = agent.openModules([Buffer.from('0a0c0a0a0a034745541a032f7878', 'hex')])
    is((await agent.modules([Buffer.from('1a00', 'hex')])).end.code, codes.OK)
    await cluster.kube.patch(Agents, { name: 'module-revoked', namespace }, { spec: { tokens: [] } })
    is((await open).end.code, codes.UNAUTHENTICATED)
  })

  it('keeps no token in its log', async () => {
    const token = `berth-agent-${randomBytes(16).toString('hex')}`
    await connect(token).configuration().end
    ok(!kas.log().includes(token))
    ok(!kas.log().includes(createHash('sha256').update(token).digest('hex')))
  })
})
