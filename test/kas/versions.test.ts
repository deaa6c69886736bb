import { is, match } from 'uvu/assert'
import { Agents, conditionOf } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { codes, rawAgent } from './raw-agent.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

describe('kas, among other versions', (it) => {
  const cluster = testCluster()
  let host: GitHost
  let kas: RunningKas
  let agent: ReturnType<typeof rawAgent>
  let namespace = ''

  it.before(async () => {
    namespace = await cluster.namespace('versions')
    host = await gitHost()
    // One minor version after that of the kinds.
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, version: '0.2.0' })
    const repository = await host.repository('versions')
    await repository.commit({ '.berth/agents/far/config.yaml': 'gitops: { manifest_projects: [{ id: team/app }] }' })
    await createProject(cluster.kube, namespace, 'versions', { url: repository.url })
    const token = await createAgent(cluster.kube, namespace, 'far', { configurationProject: `${namespace}/versions` })
    agent = rawAgent(kas.addresses.listen, token)
  })
  it.after(async () => {
    agent?.close()
    await kas?.stop()
    await host.close()
    await cluster.close()
  })

  const meta = (version: string) => ({ version, commitId: '', podNamespace: 'ns', podName: 'pod' })
  const configured = async (request: Parameters<typeof agent.configuration>[0]) => {
    await eventually(async () => {
      const stream = agent.configuration(request)
      const answer = await Promise.race([stream.end.then(() => false), eventually(() => stream.responses.length > 0)])
      stream.cancel()
      return answer
    })
  }

  it("configures agents of the version before and after its own, and GitLab's, which count otherwise", async () => {
    await configured({ berth: true, agentMeta: meta('v0.1.0') })
    await configured({ berth: true, agentMeta: meta('v0.3.1') })
    await configured({ agentMeta: meta('v18.0.0') })
  })

  it('refuses an agent of Berth that is further away, and says so at the Agent', async () => {
    const { code, details } = await agent.configuration({ berth: true, agentMeta: meta('v0.4.0') }).end
    is(code, codes.FAILED_PRECONDITION)
    match(details, 'the agent is Berth v0.4.0, and kas is 0.2.0')
    const shown = await expectObject(cluster.kube, Agents, { name: 'far', namespace }, ({ status }) =>
      conditionOf(status?.conditions, 'ConfigurationValid')?.message?.includes('v0.4.0'),
    )
    match(conditionOf(shown.status?.conditions, 'ConfigurationValid')?.message ?? '', 'One minor version apart works')
  })

  it('does not start on kinds that are two minor versions away', async () => {
    const started = runKas({ kubeconfig: cluster.kubeconfig, namespace, version: '0.3.0' })
    match((await failureOf(() => started)).message, 'and this program is 0.3.0')
  })
})
