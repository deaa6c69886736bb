import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

describe('an agent beside a kas of GitLab', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agent: RunningAgent | undefined
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('agent')
    kas = await foreignKas()
    agent = undefined
  })
  it.afterEach(async () => {
    await agent?.stop()
    await kas.stop()
  })
  it.after(() => cluster.close())

  const begin = async () => {
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace })
    return agent
  }
  const projects = (...ids: string[]) => ({
    gitops: { manifestProjects: ids.map((id) => ({ id, defaultNamespace: namespace, prunePropagationPolicy: 'background' })) },
  })

  it('brings about, follows, prunes and repairs a manifest project', async () => {
    kas.configure(projects('team/shop'))
    kas.push('team/shop', { 'a.yaml': configMap('one', { a: '1' }), 'b/b.yaml': configMap('two') })
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, ({ data }) => assert.equal(data, { a: '1' }))
    await expectObject(kube, ConfigMaps, { name: 'two', namespace }, () => true)

    kas.push('team/shop', { 'a.yaml': configMap('one', { a: '2' }) })
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, ({ data }) => assert.equal(data, { a: '2' }))
    await expectGone(kube, ConfigMaps, { name: 'two', namespace })

    await kube.patch(ConfigMaps, { name: 'one', namespace }, { data: { a: 'drift' } })
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, ({ data }) => assert.equal(data, { a: '2' }))
  })

  it('says who it is as agentk does, and registers', async () => {
    kas.configure(projects())
    await begin()
    await eventually(() => kas.registered.length > 0 && kas.asked.length > 0)
    assert.is(kas.registered[0]?.podName, agent?.podName)
    // GitLab's agents never say a negative one.
    assert.ok((kas.registered[0]?.podId ?? 0n) > 0n)
    assert.equal(kas.asked[0], { commitId: '', skipRegister: true, berth: true })
    assert.equal([...kas.authorizations], ['Bearer secret-of-the-agent'])
    assert.not(agent?.log().includes('secret-of-the-agent'))
  })

  it('writes the inventory that agentk would write', async () => {
    kas.configure(projects('team/shop'))
    kas.push('team/shop', { 'a.yaml': configMap('one') })
    await begin()
    const id = `${kas.agentId}-1`
    const inventory = await expectObject(kube, ConfigMaps, { name: `inventory-${id}`, namespace }, ({ data }) =>
      assert.equal(Object.keys(data ?? {}), [`${namespace}_one__ConfigMap`]),
    )
    assert.is(inventory.metadata.labels?.['cli-utils.sigs.k8s.io/inventory-id'], id)
    const one = await expectObject(kube, ConfigMaps, { name: 'one', namespace }, () => true)
    assert.is(one.metadata.annotations?.['config.k8s.io/owning-inventory'], id)
  })
})
