import { is, match } from 'uvu/assert'
import { type Agent, Agents, GitProjects } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { codes, rawAgent } from './raw-agent.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

describe('kas: an agent that does not report, as GitLab has it', (it) => {
  const cluster = testCluster()
  let host: GitHost
  let kas: RunningKas
  let namespace = ''
  const closing: (() => void)[] = []
  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
  })
  it.after(async () => {
    for (const close of closing) close()
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  const meta = (podName: string) => ({ version: 'v16.5.0', podNamespace: 'ns', podName })
  const projectOf = ({ status }: Agent, id: string) => status?.projects?.find((project) => project.id === id)
  const told = async (name: string, id: string, reason: string | undefined) => {
    const check = (object: Agent) => projectOf(object, id)?.reason === reason && projectOf(object, id) !== undefined
    return { ...projectOf(await expectObject(cluster.kube, Agents, { name, namespace }, check), id) }
  }

  /** An Agent whose configuration has a project that it may read, and others. */
  const given = async (name: string) => {
    const [config, shop] = [await host.repository(`${name}-config`), await host.repository(`${name}-shop`)]
    const id = `${namespace}/${name}-shop`
    const projects = [{ id }, { id: 'no/such' }]
    await config.commit({ [`.berth/agents/${name}/config.yaml`]: JSON.stringify({ gitops: { manifest_projects: projects } }) })
    const commit = await shop.commit({ 'a.yaml': '{}' })
    await createProject(cluster.kube, namespace, `${name}-config`, { url: config.url })
    await createProject(cluster.kube, namespace, `${name}-shop`, { url: shop.url })
    await expectObject(cluster.kube, GitProjects, { name: `${name}-shop`, namespace }, ({ status }) => status?.conditions)
    const agent = rawAgent(
      kas.addresses.listen,
      await createAgent(cluster.kube, namespace, name, { configurationProject: `${namespace}/${name}-config` }),
    )
    closing.push(agent.close)
    await eventually(() => agent.register({ podId: 1n, agentMeta: meta('berth') }))
    return { agent, id, commit, shop }
  }

  it('has projects of which nothing is known as soon as it is alone, until one that reports is back', async () => {
    const { agent, id, commit } = await given('exchanged')
    const berth = agent.configuration({ berth: true, agentMeta: meta('berth') })
    await agent.report({ podName: 'berth', projects: [{ id, commitId: commit, objects: 3, health: 'Healthy' }] })
    await told('exchanged', id, undefined)
    const agentk = agent.configuration({ skipRegister: true, agentMeta: meta('agentk') })
    await eventually(() => agentk.responses.length > 0)
    // It may only wait for the Lease.
    is((await told('exchanged', id, undefined)).health, 'Healthy')
    berth.cancel()
    const alone = await told('exchanged', id, 'NotReported')
    is(alone.health, 'Unknown')
    is(alone.commit, undefined)
    match(alone.message ?? '', 'does not report')
    const back = agent.configuration({ berth: true, agentMeta: meta('berth') })
    await agent.report({ podName: 'berth', projects: [{ id, commitId: commit, objects: 3, health: 'Healthy' }] })
    is((await told('exchanged', id, undefined)).commit, commit)
    for (const stream of [agentk, back]) stream.cancel()
  })

  it('is told of in the Agent: which commit it was given, and what kas refuses it', async () => {
    const { agent, id, commit, shop } = await given('served')
    const berth = agent.configuration({ berth: true, agentMeta: meta('berth') })
    await agent.report({ projects: [{ id, commitId: commit, objects: 3, health: 'Healthy' }] })
    await told('served', id, undefined)
    is((await agent.objects({ projectId: id }).end).code, codes.OK)
    match((await told('served', id, 'NotReported')).message ?? '', `kas gave it commit ${commit.slice(0, 12)}.`)
    is((await agent.objects({ projectId: 'no/such' }).end).code, codes.PERMISSION_DENIED)
    match((await told('served', 'no/such', 'ProjectNotAccessible')).message ?? '', 'spec.grants.agents')
    const branch = { ref: { case: 'branch' as const, value: 'nope' } }
    is((await agent.objects({ projectId: id, ref: { ref: branch.ref } }).end).code, codes.NOT_FOUND)
    match((await told('served', id, 'RefNotFound')).message ?? '', 'nope')
    const waiting = agent.objects({ projectId: id, commitId: commit })
    await told('served', id, 'NotReported')
    const next = await shop.commit({ 'b.yaml': '{}' })
    await waiting.end
    await expectObject(cluster.kube, Agents, { name: 'served', namespace }, (object) =>
      projectOf(object, id)?.message?.includes(next.slice(0, 12)),
    )
    berth.cancel()
  })

  it('is told of in the Agent when a grant is taken away while it waits', async () => {
    const path = `${namespace}/granted`
    const { agent } = await given('barred')
    const repository = await host.repository('granted')
    await repository.commit({ 'a.yaml': '{}' })
    await createProject(cluster.kube, namespace, 'granted', { url: repository.url, pollInterval: '1h' })
    await expectObject(cluster.kube, GitProjects, { name: 'granted', namespace }, ({ status }) => status?.conditions)
    const commitId = await eventually(async () => {
      const call = agent.objects({ projectId: path })
      await call.end
      return call.commits[0]
    })
    const waiting = agent.objects({ projectId: path, commitId })
    await told('barred', path, 'NotReported')
    await cluster.kube.patch(GitProjects, { name: 'granted', namespace }, { spec: { path: `${namespace}/other` } })
    is((await waiting.end).code, codes.PERMISSION_DENIED)
    is((await told('barred', path, 'ProjectNotAccessible')).health, 'Unknown')
  })
})
