import { is } from 'uvu/assert'
import { Agents, GitProjects } from '../../src/api/index.ts'
import { numberOf } from '../../src/kas/projects/number.ts'
import { developer } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

/** kas as it is. No agent is ever connected to it: who may pass gets a 504 then, and who may not a 403. */
describe('kas: the rules of an agent that is connected elsewhere', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let host: GitHost
  let kas: RunningKas
  let namespace = ''
  let token = ''

  it.before(async () => {
    namespace = await cluster.namespace('rules')
    host = await gitHost()
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { agentWait: '1' } })
    token = (await developer(kube, namespace, 'person')).token
  })
  it.after(async () => {
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  /** As a person, not as a job: who develops the configuration project might always. */
  const visit = async (name: string): Promise<number> => {
    const id = numberOf((await kube.get(Agents, { name, namespace }))?.metadata.uid ?? '')
    const headers = { authorization: `Bearer pat:${id}:${token}` }
    return (await fetch(`http://${kas.addresses.kubernetesApi}/version`, { headers })).status
  }
  const ADMITTED = 504
  const REFUSED = 403

  it('are read when somebody comes, and lapse with their file', async () => {
    const repository = await host.repository('config')
    await createProject(kube, namespace, 'config', { url: repository.url })
    const file = '.gitlab/agents/dev/config.yaml'
    const rules = `user_access: { access_as: { user: {} }, projects: [{ id: ${namespace}/shop }] }`
    await repository.commit({ [file]: rules })
    await createProject(kube, namespace, 'shop', { url: 'https://git.example.com/shop' })
    await createAgent(kube, namespace, 'dev')
    const becomes = (status: number) => eventually(async () => (await visit('dev')) === status)
    await becomes(ADMITTED)
    await repository.commit({ [file]: rules.replace('/shop', '/other') })
    await becomes(REFUSED)
    await repository.commit({ [file]: rules })
    await becomes(ADMITTED)
    await repository.commit({ [file]: undefined })
    await becomes(REFUSED)
    await repository.commit({ [file]: rules })
    await becomes(ADMITTED)
    await kube.patch(Agents, { name: 'dev', namespace }, { spec: { configurationProject: `${namespace}/shop` } })
    await becomes(REFUSED)
    await kube.patch(Agents, { name: 'dev', namespace }, { spec: { configurationProject: `${namespace}/config` } })
    await becomes(ADMITTED)
    await kube.delete(GitProjects, { name: 'config', namespace })
    await becomes(REFUSED)
  })

  it('sound the same when there are none as when there is no Agent', async () => {
    await createAgent(kube, namespace, 'bare')
    is(await visit('bare'), REFUSED)
    is(await visit('absent'), REFUSED)
  })
})
