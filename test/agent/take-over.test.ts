import * as assert from 'uvu/assert'
import { ConfigMaps, type KubeObject } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const OWNING = 'config.k8s.io/owning-inventory'

describe('what agentk left in a cluster', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agent: RunningAgent | undefined
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('agentk')
    kas = await foreignKas({ reports: true })
    agent = undefined
  })
  it.afterEach(async () => {
    await agent?.stop()
    await kas.stop()
  })
  it.after(() => cluster.close())

  /** As cli-utils writes it, with the field manager of agentk. */
  const leave = (name: string, data: Record<string, string>, owning = `${kas.agentId}-1`) =>
    kube.apply(
      ConfigMaps,
      { ...configMap(name, data, namespace), metadata: { name, namespace, annotations: { [OWNING]: owning } } },
      { manager: 'agentk', force: true },
    )
  const leaveInventory = (...names: string[]) =>
    kube.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `inventory-${kas.agentId}-1`,
        namespace,
        labels: { 'cli-utils.sigs.k8s.io/inventory-id': `${kas.agentId}-1` },
      },
      data: Object.fromEntries(names.map((name) => [`${namespace}_${name}__ConfigMap`, ''])),
    })
  const begin = async (more: { inventoryPolicy?: string } = {}, limits: object = {}) => {
    kas.configure({
      gitops: {
        ...limits,
        manifestProjects: [{ id: 'team/shop', defaultNamespace: namespace, prunePropagationPolicy: 'background', ...more }],
      },
    })
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace })
  }
  const keys = async () => {
    const inventory = await kube.get(ConfigMaps, { name: `inventory-${kas.agentId}-1`, namespace })
    return Object.keys(inventory?.data ?? {}).map((key) => key.split('_')[1])
  }

  it('is adopted: what stayed is kept, fields and objects that left go', async () => {
    await leave('stays', { kept: '1', dropped: '1' })
    await leave('left', { a: '1' })
    await leaveInventory('stays', 'left')
    const before = await kube.get(ConfigMaps, { name: 'stays', namespace })
    kas.push('team/shop', { 'a.yaml': configMap('stays', { kept: '1' }) })
    await begin()
    const stays = await expectObject(kube, ConfigMaps, { name: 'stays', namespace }, ({ data }) =>
      assert.equal(data, { kept: '1' }),
    )
    assert.is(stays.metadata.uid, before?.metadata.uid)
    await expectGone(kube, ConfigMaps, { name: 'left', namespace })
    await eventually(async () => assert.equal(await keys(), ['stays']) ?? true)
  })

  it('goes on living when agentk wrote into it meanwhile', async () => {
    kas.push('team/shop', { 'a.yaml': configMap('one') })
    await begin()
    await eventually(async () => (await keys()).includes('one'))
    await agent?.stop()
    await leave('late', {})
    await kube.patch(
      ConfigMaps,
      { name: `inventory-${kas.agentId}-1`, namespace },
      { data: { [`${namespace}_late__ConfigMap`]: '' } },
    )
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace })
    await expectGone(kube, ConfigMaps, { name: 'late', namespace })
    assert.ok(await kube.get(ConfigMaps, { name: 'one', namespace }))
  })

  it('is left alone outside the namespaces and kinds of the configuration, and the report says so', async () => {
    const outside = await cluster.namespace('agentk')
    const id = `${kas.agentId}-1`
    const accounts = { group: '', version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true }
    const marks = { annotations: { [OWNING]: id } }
    await leave('left', {})
    const far = await kube.create(ConfigMaps, { ...configMap('far'), metadata: { name: 'far', namespace: outside, ...marks } })
    const robot: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace, ...marks } }
    const account = await kube.create(accounts, robot)
    await leaveInventory('left')
    const data = { [`${outside}_far__ConfigMap`]: '', [`${namespace}_robot__ServiceAccount`]: '' }
    await kube.patch(ConfigMaps, { name: `inventory-${id}`, namespace }, { data })
    kas.push('team/shop', { 'a.yaml': configMap('stays') })
    await begin({}, { namespaces: [namespace], allowedKinds: [{ group: '', kind: 'ConfigMap' }] })
    await expectGone(kube, ConfigMaps, { name: 'left', namespace })
    const told = await eventually(() => kas.project('team/shop')?.reason === 'LeftAlone' && kas.project('team/shop'))
    assert.match(told.message, /neither adopted nor deleted: .*(far|robot).*; and 1 more/)
    assert.is(told.health, 'Healthy')
    const ref = { name: 'far', namespace: outside }
    assert.is((await kube.get(ConfigMaps, ref))?.metadata.resourceVersion, far.metadata.resourceVersion)
    const now = await kube.get(accounts, { name: 'robot', namespace })
    assert.is(now?.metadata.resourceVersion, account.metadata.resourceVersion)
  })

  const STRANGERS = [
    { policy: 'must_match', owning: undefined, isTaken: false, why: 'what belongs to no inventory is not its own' },
    { policy: 'must_match', owning: '9-9', isTaken: false, why: 'what belongs to another inventory is not its own' },
    { policy: 'adopt_if_no_inventory', owning: undefined, isTaken: true, why: 'nobody loses it' },
    { policy: 'adopt_if_no_inventory', owning: '9-9', isTaken: false, why: 'somebody would lose it' },
    { policy: 'adopt_all', owning: '9-9', isTaken: true, why: 'it was asked for' },
  ] as const
  for (const { policy, owning, isTaken, why } of STRANGERS)
    it(`inventory_policy ${policy} ${isTaken ? 'takes' : 'lets be'} an object of inventory ${owning ?? 'nobody'}: ${why}`, async () => {
      if (owning) await leave('stranger', { a: 'theirs' }, owning)
      else await kube.create(ConfigMaps, configMap('stranger', { a: 'theirs' }, namespace))
      kas.push('team/shop', { 'a.yaml': configMap('stranger', { a: 'ours' }), 'b.yaml': configMap('other') })
      await begin({ inventoryPolicy: policy })
      await expectObject(kube, ConfigMaps, { name: 'other', namespace }, () => true)
      const report = await eventually(() => {
        const told = kas.project('team/shop')
        return told?.commitId === '' ? undefined : told
      })
      const { data } = (await kube.get(ConfigMaps, { name: 'stranger', namespace })) ?? {}
      assert.equal(data, { a: isTaken ? 'ours' : 'theirs' }, why)
      if (isTaken) assert.is(report.reason, '')
      else assert.match(report.message, /ConfigMap .*stranger.*inventory_policy is/)
    })
})
