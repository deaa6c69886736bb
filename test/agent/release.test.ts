import * as assert from 'uvu/assert'
import { ConfigMaps, type KubeObject, Leases } from '../../src/api/index.ts'
import { berth } from '../cli/berth.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const OWNING = 'config.k8s.io/owning-inventory'
const OWNER = 'gitops.berth.dev/sync'

describe('berth agent release', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agent: RunningAgent | undefined
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('release')
    kas = await foreignKas({ reports: true })
    agent = undefined
  })
  it.afterEach(async () => {
    await agent?.stop()
    await kas.stop()
  })
  it.after(() => cluster.close())

  const inventoryId = () => `${kas.agentId}-1`
  const release = (...more: string[]) => berth(['agent', 'release', ...more, '-n', namespace, '--kubeconfig', kubeconfig])
  const begin = async (files: Record<string, object>) => {
    kas.configure({ gitops: { manifestProjects: [{ id: 'team/shop', defaultNamespace: namespace }] } })
    kas.push('team/shop', files)
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace })
    await eventually(() => kas.project('team/shop')?.health === 'Healthy')
  }
  /** As cli-utils applies it in agentk 16: by the server, with force, as the manager agentk. */
  const applyAsAgentk = (name: string, data: Record<string, string>) =>
    kube.apply(
      ConfigMaps,
      { ...configMap(name, data, namespace), metadata: { name, namespace, annotations: { [OWNING]: inventoryId() } } },
      { manager: 'agentk', force: true },
    )
  const seen = (name: string) => kube.get(ConfigMaps, { name, namespace })
  const names = async () => (await kube.list(ConfigMaps, { namespace })).map(({ metadata }) => metadata.name)
  const managersOf = (object: KubeObject | undefined): string[] => {
    const { managedFields } = { managedFields: [], ...object?.metadata } as { managedFields: { manager: string }[] }
    return managedFields.map(({ manager }) => manager)
  }

  it("hands fields over to agentk, whose next apply takes away what has left Git, and Berth's marks", async () => {
    await begin({ 'a.yaml': configMap('one', { kept: '1', dropped: '1' }), 'b.yaml': configMap('two', { a: '1' }) })
    await agent?.stop()
    const before = await seen('one')
    await applyAsAgentk('two', { a: '1' })
    const done = await release()
    assert.is(done.code, 0, done.stderr)
    assert.match(done.stdout, new RegExp(`team/shop +${namespace}/inventory-${inventoryId()} +2 +2 +0`))
    assert.equal(managersOf(await seen('one')), ['agentk'])
    await applyAsAgentk('one', { kept: '1' })
    await applyAsAgentk('two', {})
    const one = await seen('one')
    assert.equal(one?.data, { kept: '1' })
    assert.is(one?.metadata.uid, before?.metadata.uid)
    assert.is(one?.metadata.labels?.[OWNER], undefined)
    assert.is((await seen('two'))?.data, undefined)
    const index = await seen(`inventory-${inventoryId()}`)
    assert.equal(Object.keys(index?.data ?? {}).sort(), [`${namespace}_one__ConfigMap`, `${namespace}_two__ConfigMap`])
    assert.not((await names()).includes(`inventory-${inventoryId()}-berth`))
    assert.equal((await seen(`agent-${kas.agentId}-projects`))?.data ?? {}, {})
  })

  it('changes nothing in a dry run, and speaks to scripts', async () => {
    await begin({ 'a.yaml': configMap('one', { a: '1' }) })
    await agent?.stop()
    const before = await seen('one')
    const told = await release(String(kas.agentId), '--dry-run', '-o', 'json')
    assert.is(told.code, 0, told.stderr)
    const inventories = [`${namespace}/inventory-${inventoryId()}`]
    assert.equal(JSON.parse(told.stdout), [
      { agentId: String(kas.agentId), id: 'team/shop', inventories, objects: 1, released: 1, failed: [] },
    ])
    assert.is((await seen('one'))?.metadata.resourceVersion, before?.metadata.resourceVersion)
    assert.ok((await names()).includes(`inventory-${inventoryId()}-berth`))
  })

  it("lets Berth's agent take everything over again afterwards", async () => {
    await begin({ 'a.yaml': configMap('one', { kept: '1', dropped: '1' }) })
    await agent?.stop()
    assert.is((await release()).code, 0)
    kas.push('team/shop', { 'a.yaml': configMap('one', { kept: '1' }) })
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace })
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, ({ data }) => assert.equal(data, { kept: '1' }))
    assert.ok(managersOf(await seen('one')).every((manager) => manager.startsWith('berth-')))
  })

  it("refuses while Berth's agent runs, and not while agentk does", async () => {
    await begin({ 'a.yaml': configMap('one', { a: '1' }) })
    const refused = await release()
    assert.is(refused.code, 1)
    assert.match(refused.stderr, `pod ${agent?.podName} holds Lease ${namespace}/agent-${kas.agentId}-lock`)
    assert.match(refused.stderr, `kubectl scale deployment --all --replicas=0 -n ${namespace}`)
    await agent?.stop()
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const lease = { name: `agent-${kas.agentId}-lock`, namespace }
    await kube.patch(
      Leases,
      lease,
      { spec: { holderIdentity: 'agentk-0', renewTime, leaseDurationSeconds: 600 } },
      { manager: 'agentk' },
    )
    assert.is((await release()).code, 0)
  })

  it('says what to do where there is no agent, or more than one', async () => {
    const none = await release()
    assert.is(none.code, 3)
    assert.match(none.stderr, `no agent of Berth's has applied anything from namespace ${namespace}`)
    for (const id of [1, 2]) await kube.create(ConfigMaps, configMap(`agent-${id}-projects`, {}, namespace))
    const several = await release()
    assert.is(several.code, 7)
    assert.match(several.stderr, `2 agents have run in namespace ${namespace}: 1, 2`)
    assert.is((await release('x')).code, 2)
  })
})
