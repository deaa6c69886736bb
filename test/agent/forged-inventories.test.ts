import * as assert from 'uvu/assert'
import { type ConfigMap, ConfigMaps } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const INVENTORY_ID = 'cli-utils.sigs.k8s.io/inventory-id'
const OWNING = 'config.k8s.io/owning-inventory'
const SYNC = 'gitops.berth.dev/sync'

/** A tenant may write whatever ConfigMaps he likes into his namespace, where inventories lie. The agent may do everything. */
describe('a tenant who forges inventories', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agent: RunningAgent | undefined
  /** Of the agent's pods, of the tenant, of others. */
  let [home, namespace, others] = ['', '', '']
  let victims: ConfigMap[] = []

  it.beforeEach(async () => {
    home = await cluster.namespace('home')
    namespace = await cluster.namespace('tenant')
    others = await cluster.namespace('others')
    kas = await foreignKas({ reports: true })
    agent = undefined
    victims = await Promise.all([
      victim('nobodys'),
      victim('agentks', { annotations: { [OWNING]: '77-7' } }),
      victim('operators', { labels: { [SYNC]: 'b5a3c1de-0000-4000-8000-000000000000' }, annotations: { [OWNING]: mine(1) } }),
      victim('anothers', { labels: { [SYNC]: 'agent-77-7' } }),
      victim('neighbours', { labels: { [SYNC]: `agent-${kas.agentId}-2` }, annotations: { [OWNING]: mine(2) } }),
    ])
  })
  it.afterEach(async () => {
    await agent?.stop()
    await kas.stop()
  })
  it.after(() => cluster.close())

  const mine = (project: number) => `${kas.agentId}-${project}`
  const victim = (name: string, marks: { labels?: Record<string, string>; annotations?: Record<string, string> } = {}) =>
    kube.create(ConfigMaps, { ...configMap(name, { precious: 'yes' }), metadata: { name, namespace: others, ...marks } })
  const assertUntouched = async () => {
    for (const { metadata } of victims) {
      const now = await kube.get(ConfigMaps, { name: metadata.name, namespace: others })
      assert.is(now?.metadata.resourceVersion, metadata.resourceVersion, `${metadata.name} was touched`)
    }
  }
  const begin = async () => {
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace: home })
  }
  const entry = (more: object = {}) => ({
    id: 'shop',
    defaultNamespace: namespace,
    prunePropagationPolicy: 'background',
    deletion: 'delete',
    ...more,
  })
  const list = (...manifestProjects: object[]) => kas.configure({ gitops: { manifestProjects } })
  const there = (name: string, where = namespace) => expectObject(kube, ConfigMaps, { name, namespace: where }, () => true)
  const gone = (name: string, where = namespace) => expectGone(kube, ConfigMaps, { name, namespace: where })

  /** All that an inventory can say, about everything that is not the tenant's. */
  const forgedMarks = (id: string) => ({
    labels: { [INVENTORY_ID]: id, 'agent.berth.dev/agent': String(kas.agentId), 'gitops.berth.dev/inventory': 'true' },
    annotations: {
      'agent.berth.dev/project': 'team/gone',
      'agent.berth.dev/deletion': 'delete',
      'agent.berth.dev/home': home,
      'agent.berth.dev/owner': `agent-${kas.agentId}-2`,
    },
  })
  const keysOfVictims = () => Object.fromEntries(victims.map(({ metadata: { name } }) => [`${others}_${name}__ConfigMap`, '']))
  const linesOfVictims = () =>
    victims.map(({ metadata: { name, uid } }) => `/ConfigMap/${others}/${name}/v1/${uid}/0123456789abcdef`).join('\n')
  const forge = async (name: string, id: string, where = namespace) => {
    const index = await kube.get(ConfigMaps, { name, namespace: where })
    const detail = await kube.get(ConfigMaps, { name: `${name}-berth`, namespace: where })
    const write = (given: string, data: Record<string, string>, known: boolean) =>
      known
        ? kube.patch(ConfigMaps, { name: given, namespace: where }, { metadata: forgedMarks(id), data })
        : kube.create(ConfigMaps, { ...configMap(given, data), metadata: { name: given, namespace: where, ...forgedMarks(id) } })
    await write(name, keysOfVictims(), index !== undefined)
    const before = detail?.data?.objects
    const objects = [...(before ? [before] : []), linesOfVictims()].join('\n')
    await write(`${name}-berth`, { format: '2', shards: '1', server: '', objects }, detail !== undefined)
  }

  for (const { title, id, name } of [
    { title: 'a project that never was', id: 99, name: 'inventory-of-nobody' },
    { title: 'a project of another agent', id: 7, name: 'inventory-77-7' },
  ])
    it(`for ${title} is not heard`, async () => {
      await forge(name, id === 7 ? '77-7' : mine(id))
      list(entry())
      kas.push('shop', { 'a.yaml': configMap('one') })
      await begin()
      await there('one')
      list()
      // What it would do about the forged one it would do now.
      await gone('one')
      await eventually(() => kas.project('shop')?.message.includes('were deleted'))
      await assertUntouched()
      assert.is(kas.project('team/gone'), undefined)
      await there(name)
    })

  for (const inventoryPolicy of ['must_match', 'adopt_all'])
    it(`in the place of the project's own gets nothing adopted by it (${inventoryPolicy})`, async () => {
      await forge(`inventory-${mine(1)}`, mine(1))
      list(entry({ inventoryPolicy }))
      kas.push('shop', { 'a.yaml': configMap('one') })
      await begin()
      await there('one')
      kas.push('shop', { 'b.yaml': configMap('two'), 'c.yaml': configMap('three') })
      await eventually(() => kas.project('shop')?.objects === 2)
      await gone('one')
      await assertUntouched()
    })

  it('names the objects of others in it gets nothing but his own deleted with the project', async () => {
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    await forge(`inventory-${mine(1)}`, mine(1))
    list()
    await gone('one')
    await eventually(() => kas.project('shop')?.message.includes('were deleted'))
    await assertUntouched()
    await gone(`inventory-${mine(1)}`)
  })

  it('gets nothing with an inventory that moves to another namespace', async () => {
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    await forge(`inventory-${mine(1)}`, mine(1))
    const there2 = await cluster.namespace('moved')
    list(entry({ defaultNamespace: there2 }))
    await there('one', there2)
    await gone('one')
    await eventually(() => kas.project('shop')?.objects === 1)
    list()
    await gone('one', there2)
    await assertUntouched()
  })

  it('cannot turn orphan into delete', async () => {
    list(entry({ deletion: 'orphan' }))
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    await agent?.stop()
    await forge(`inventory-${mine(1)}`, mine(1))
    list()
    await begin()
    const told = await eventually(() => kas.project('shop')?.removed && kas.project('shop'))
    assert.match(told.message, /stay \(deletion: orphan\)/)
    await there('one')
    await assertUntouched()
  })

  it('cannot turn delete into orphan, whatever he takes off his inventory', async () => {
    list(entry())
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    await agent?.stop()
    const annotations = { 'agent.berth.dev/project': null, 'agent.berth.dev/deletion': 'orphan' }
    const ref = { name: `inventory-${mine(1)}`, namespace }
    await kube.patch(ConfigMaps, ref, { metadata: { annotations, labels: { 'agent.berth.dev/agent': null } } })
    list()
    await begin()
    await gone('one')
  })

  for (const { title, template } of [
    { title: 'another agent', template: () => ['mine', '77-7'] },
    { title: 'another project of this agent', template: () => ['mine', mine(2)] },
    { title: 'another project of this agent, by its name', template: () => [`inventory-${mine(2)}`, 'mine'] },
  ] as const)
    it(`cannot take the inventory of ${title} by a file in his repository`, async () => {
      const [name = '', id = ''] = template()
      await forge(name, id)
      list(entry({ inventoryPolicy: 'adopt_all' }))
      const inventory = { ...configMap(name), metadata: { name, labels: { [INVENTORY_ID]: id } } }
      kas.push('shop', { 'a.yaml': configMap('one'), 'inventory.yaml': inventory })
      await begin()
      await eventually(() => kas.project('shop')?.reason === 'InventoryTaken')
      kas.push('shop', { 'a.yaml': configMap('one') })
      await eventually(() => kas.project('shop')?.health === 'Healthy')
      await assertUntouched()
    })

  it('cannot have a ConfigMap written over that is no inventory', async () => {
    const before = await kube.create(ConfigMaps, configMap('settings', { important: 'yes' }, namespace))
    list(entry())
    const inventory = { ...configMap('settings'), metadata: { name: 'settings', labels: { [INVENTORY_ID]: 'mine' } } }
    kas.push('shop', { 'a.yaml': configMap('one'), 'inventory.yaml': inventory })
    await begin()
    const told = await eventually(() => kas.project('shop')?.reason === 'InventoryTaken' && kas.project('shop'))
    assert.match(told.message, /ConfigMap .*settings is there already, and is not inventory mine/)
    list()
    await eventually(() => kas.project('shop')?.removed)
    const after = await kube.get(ConfigMaps, { name: 'settings', namespace })
    assert.is(after?.metadata.resourceVersion, before.metadata.resourceVersion)
  })

  it('cannot fill what the agent remembers by moving his inventory again and again', async () => {
    list(entry())
    const at = (name: string) => ({
      'a.yaml': configMap('one'),
      'inventory.yaml': { ...configMap(name), metadata: { name, labels: { [INVENTORY_ID]: name } } },
    })
    kas.push('shop', at('place-0'))
    await begin()
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    // It can be read no more, so the agent cannot leave it behind.
    await kube.patch(ConfigMaps, { name: 'place-0', namespace }, { metadata: { labels: { [INVENTORY_ID]: null } } })
    for (let turn = 1; !agent?.log().includes('may not lie in'); turn++) {
      assert.ok(turn < 20, 'it goes on for ever')
      const commit = kas.push('shop', at(`place-${turn}`))
      await eventually(() => agent?.log().includes(commit))
    }
    const register = await kube.get(ConfigMaps, { name: `agent-${kas.agentId}-projects`, namespace: home })
    assert.ok(JSON.stringify(register?.data).length < 4000)
    // He who mends it goes on.
    await kube.patch(ConfigMaps, { name: 'place-0', namespace }, { metadata: { labels: { [INVENTORY_ID]: 'place-0' } } })
    kas.push('shop', at('place-0'))
    await eventually(() => kas.project('shop')?.reason === '')
  })
})
