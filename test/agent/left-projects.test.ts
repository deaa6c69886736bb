import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

describe('what an agent remembers of its projects', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agent: RunningAgent | undefined
  let [home, namespace] = ['', '']

  it.beforeEach(async () => {
    home = await cluster.namespace('home')
    namespace = await cluster.namespace('left')
    kas = await foreignKas({ reports: true })
    agent = undefined
  })
  it.afterEach(async () => {
    await agent?.stop()
    await kas.stop()
  })
  it.after(() => cluster.close())

  const begin = async () => {
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace: home })
  }
  const entry = (id: string, more: object = {}) => ({
    id,
    defaultNamespace: namespace,
    prunePropagationPolicy: 'background',
    deletion: 'delete',
    ...more,
  })
  const list = (...manifestProjects: object[]) => kas.configure({ gitops: { manifestProjects } })
  const register = async () =>
    (await kube.get(ConfigMaps, { name: `agent-${kas.agentId}-projects`, namespace: home }))?.data ?? {}
  const uidOf = async (name: string) => (await kube.get(ConfigMaps, { name, namespace }))?.metadata.uid

  it('is where its inventories lie and what becomes of its objects, until nothing is left', async () => {
    list(entry('shop', { deletion: 'orphan' }))
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    const inventoryId = `${kas.agentId}-1`
    const places = [{ namespace, name: `inventory-${inventoryId}`, inventoryId }]
    assert.equal(JSON.parse((await register())['1'] ?? ''), { id: 'shop', deletion: 'orphan', places })
    // The word of the entry counts at once, and not only with the next commit.
    list(entry('shop'))
    await eventually(async () => (await register())['1']?.includes('"deletion":"delete"'))
    list()
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
    await eventually(async () => assert.equal(await register(), {}) ?? true)
  })

  it('keeps a project that has another path now', async () => {
    list(entry('shop'))
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    const uid = await uidOf('one')
    kas.rename('shop', 'store')
    list(entry('store'))
    await eventually(() => kas.project('store')?.health === 'Healthy')
    await eventually(async () => (await register())['1']?.includes('"id":"store"'))
    assert.is(await uidOf('one'), uid)
    assert.is(kas.project('shop'), undefined)
    list()
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
  })

  it('keeps it also when the new path becomes known late', async () => {
    list(entry('shop'), entry('other'))
    kas.push('shop', { 'a.yaml': configMap('one') })
    kas.push('other', { 'b.yaml': { ...configMap('held'), metadata: { name: 'held', finalizers: ['example.com/held'] } } })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy' && kas.project('other')?.health === 'Healthy')
    // The deletion of `other` is under way, and cannot end, when it turns out to be `another`.
    list(entry('shop'), entry('another'))
    await eventually(() => kas.project('other')?.message.includes('still there'))
    kas.rename('other', 'another')
    await eventually(async () => (await register())['2']?.includes('"id":"another"'))
    await eventually(() => kas.project('other') === undefined)
    await kube.patch(ConfigMaps, { name: 'held', namespace }, { metadata: { finalizers: null } })
    await expectObject(kube, ConfigMaps, { name: 'held', namespace }, ({ metadata }) => metadata.deletionTimestamp === undefined)
  })

  it('goes on deleting within new limits when these change', async () => {
    const outside = await cluster.namespace('outside')
    const held = { ...configMap('held'), metadata: { name: 'held', finalizers: ['example.com/held'] } }
    const both = { namespaces: [namespace, outside] }
    kas.configure({ gitops: { ...both, manifestProjects: [entry('shop')] } })
    kas.push('shop', { 'a.yaml': held, 'b.yaml': configMap('there', {}, outside) })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    await kube.patch(ConfigMaps, { name: 'there', namespace: outside }, { metadata: { finalizers: ['example.com/held'] } })
    kas.configure({ gitops: both })
    await eventually(() => kas.project('shop')?.objects === 2 && kas.project('shop')?.removed)
    kas.configure({ gitops: { namespaces: [namespace] } })
    await eventually(() => kas.project('shop')?.message.includes('1 objects are still there'))
    for (const [name, where] of [
      ['held', namespace],
      ['there', outside],
    ] as const)
      await kube.patch(ConfigMaps, { name, namespace: where }, { metadata: { finalizers: null } })
    await expectGone(kube, ConfigMaps, { name: 'held', namespace })
  })

  it('is written anew where it is damaged', async () => {
    await kube.create(ConfigMaps, configMap(`agent-${kas.agentId}-projects`, { 1: 'damaged' }, home))
    list(entry('shop'))
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    // What is damaged counts for nothing, and is written anew.
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    await eventually(async () => (await register())['1']?.includes('"id":"shop"'))
  })
})
