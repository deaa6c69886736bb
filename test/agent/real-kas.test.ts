import * as assert from 'uvu/assert'
import { Agents, ConfigMaps } from '../../src/api/index.ts'
import { createAgent, createProject, type RunningKas, runKas } from '../kas/running-kas.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { expectGone, expectObject } from '../support/verbs.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

describe('an agent at the real kas', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let host: GitHost
  let kas: RunningKas
  let agents: RunningAgent[] = []
  let namespace = ''

  it.before(async () => {
    namespace = await cluster.namespace('whole')
    host = await gitHost()
    kas = await runKas({ kubeconfig, namespace })
  })
  it.afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.stop()))
    agents = []
  })
  it.after(async () => {
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  const json = (value: unknown) => JSON.stringify(value)

  it('brings about what is pushed, from the configuration to the status of the Agent', async () => {
    const target = await cluster.namespace('target')
    const config = await host.repository('config')
    const shop = await host.repository('shop')
    await createProject(kube, namespace, 'config', { url: config.url })
    const project = await createProject(kube, namespace, 'shop', { url: shop.url })
    await shop.commit({ 'deploy/a.yaml': json(configMap('one', { a: '1' })), 'deploy/b.yaml': json(configMap('two')) })
    const entry = { id: project.spec.path, default_namespace: target, paths: [{ glob: 'deploy/*.yaml' }], deletion: 'delete' }
    const file = '.berth/agents/dev/config.yaml'
    await config.commit({
      [file]: json({ gitops: { manifest_projects: [{ ...entry, prune_propagation_policy: 'background' }] } }),
    })
    const token = await createAgent(kube, namespace, 'dev')
    agents.push(await runAgent({ kas: `grpc://${kas.addresses.listen}`, kubeconfig, namespace: target, token }))

    await expectObject(kube, ConfigMaps, { name: 'one', namespace: target }, ({ data }) => assert.equal(data, { a: '1' }))
    const commit = await shop.commit({ 'deploy/a.yaml': json(configMap('one', { a: '2' })), 'deploy/b.yaml': undefined })
    await expectObject(kube, ConfigMaps, { name: 'one', namespace: target }, ({ data }) => assert.equal(data, { a: '2' }))
    await expectGone(kube, ConfigMaps, { name: 'two', namespace: target })
    await expectObject(kube, Agents, { name: 'dev', namespace }, ({ status }) => {
      const [told] = status?.projects ?? []
      assert.is(told?.id, project.spec.path)
      assert.is(told?.commit, commit)
      assert.is(told?.objects, 1)
      assert.is(told?.health, 'Healthy')
      assert.is(status?.connectedPods?.length, 1)
    })

    await config.commit({ [file]: json({ gitops: {} }) })
    await expectGone(kube, ConfigMaps, { name: 'one', namespace: target })
  })
})
