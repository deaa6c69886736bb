import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import { managedEntriesOf } from '../../../src/engines/gitops/fields/managed-fields.ts'
import { hookRun } from '../../../src/engines/gitops/objects/hook-runs.ts'
import { managerOf, OWNER_LABEL } from '../../../src/engines/gitops/objects/place.ts'
import { Failure } from '../../../src/std/index.ts'
import { type Applier, createApplier, said, whyOf } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { personWithKubectl } from '../../support/kubectl.ts'
import { describe } from '../../support/suite.ts'

const annotated = (name: string, data: Record<string, string>, annotations: Record<string, string>) => ({
  ...configMap(name, data),
  metadata: { name, annotations },
})

describe('taking over', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('takeover')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())
  const { byHand } = personWithKubectl(it, cluster, () => namespace)

  const get = (name: string) => kube.get(ConfigMaps, { name, namespace })
  const managersOf = async (name: string) =>
    managedEntriesOf({ ...(await get(name)), ...EMPTY, metadata: (await get(name))?.metadata ?? EMPTY.metadata })

  it('makes what kubectl apply set ours: what the repository lacks is gone, and so is the annotation', async () => {
    await byHand(['apply'], configMap('a', { x: 'hand', old: 'hand' }))
    assert.ok((await get('a'))?.metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'])
    assert.equal(said(await applier.apply([configMap('a', { x: 'git' })])), ['ConfigMap a configured'])
    const live = await get('a')
    assert.equal(live?.data, { x: 'git' })
    assert.is(live?.metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'], undefined)
    assert.equal(
      (await managersOf('a')).map(({ manager, operation }) => [manager, operation]),
      [[managerOf(applier.owner.id), 'Apply']],
    )
  })

  it('does so too where no value differs, so that a field that leaves the repository later goes', async () => {
    await byHand(['apply'], configMap('a', { x: '1', y: '1' }))
    await applier.apply([configMap('a', { x: '1', y: '1' })])
    await applier.apply([configMap('a', { x: '1' })])
    assert.equal((await get('a'))?.data, { x: '1' })
  })

  it('takes over what kubectl create and server-side kubectl apply made', async () => {
    await byHand(['create'], configMap('a', { x: 'hand', old: 'hand' }))
    await byHand(['apply', '--server-side'], configMap('b', { x: 'hand', old: 'hand' }))
    await applier.apply([configMap('a', { x: 'git' }), configMap('b', { x: 'git' })])
    assert.equal([(await get('a'))?.data, (await get('b'))?.data], [{ x: 'git' }, { x: 'git' }])
  })

  it('leaves what it may not take where a hook is to run, and runs the hook elsewhere', async () => {
    const aside = { 'gitops.berth.dev/apply': 'ignore' }
    await byHand(['create'], configMap('theirs', { x: 'hand' }))
    await byHand(['create'], annotated('aside', { x: 'hand' }, aside))
    const objection = () => new Failure('already-exists', 'is theirs')
    const hookRunOf = () => hookRun('content', undefined)
    const hooks = ['theirs', 'aside', 'c'].map((name) => annotated(name, { x: 'git' }, { 'gitops.berth.dev/hook': 'Sync' }))
    const entries = await applier.apply(hooks, { hookRunOf, takeOver: { managers: [], fromOthers: false, objection } })
    assert.equal(said(entries).toSorted(), ['ConfigMap aside failed', 'ConfigMap c created', 'ConfigMap theirs failed'])
    const again = await applier.apply(hooks, { hookRunOf })
    assert.equal(said(again).toSorted(), ['ConfigMap aside skipped', 'ConfigMap c unchanged', 'ConfigMap theirs created'])
    const data = async (name: string) => (await get(name))?.data
    assert.equal([await data('theirs'), await data('aside')], [{ x: 'git' }, { x: 'hand' }])
  })

  it('leaves finalizers that somebody set by hand', async () => {
    await byHand(['apply'], { ...configMap('a', { x: '1' }), metadata: { name: 'a', finalizers: ['example.com/wait'] } })
    await applier.apply([configMap('a', { x: '1' })])
    assert.equal((await get('a'))?.metadata.finalizers, ['example.com/wait'])
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { metadata: { finalizers: null } })
  })

  it('leaves what another program added, and takes the fields that both set', async () => {
    await kube.create(
      ConfigMaps,
      { ...configMap('a', { x: 'other', theirs: '1' }), metadata: { name: 'a', namespace } },
      { manager: 'other' },
    )
    assert.equal(said(await applier.apply([configMap('a', { x: 'git' })])), ['ConfigMap a configured'])
    assert.equal((await get('a'))?.data, { x: 'git', theirs: '1' })
  })

  it('happens once: what is added with kubectl later stays', async () => {
    await applier.apply([configMap('a', { x: '1' })])
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { later: '1' } }, { manager: 'kubectl-edit' })
    await applier.apply([configMap('a', { x: '2' })])
    assert.equal((await get('a'))?.data, { x: '2', later: '1' })
  })

  it('takes no field from anybody where the manifest asks to merge', async () => {
    const merge = { 'gitops.berth.dev/apply': 'merge' }
    await kube.create(
      ConfigMaps,
      { ...configMap('a', { x: 'other', theirs: '1' }), metadata: { name: 'a', namespace } },
      { manager: 'other' },
    )
    const entries = await applier.apply([annotated('a', { x: 'git', mine: '1' }, merge)])
    assert.equal(said(entries), ['ConfigMap a configured'])
    assert.match(whyOf(entries, 'a'), '.data.x (other) left to others')
    assert.equal((await get('a'))?.data, { x: 'other', theirs: '1', mine: '1' })
    const managers = (await managersOf('a')).map(({ manager }) => manager)
    assert.equal(managers.sort(), [managerOf(applier.owner.id), 'other'])
  })

  it('leaves lists of others whole where the manifest asks to merge', async () => {
    const service = (ports: object[], annotations = {}) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', annotations },
      spec: { selector: { app: 's' }, ports },
    })
    await byHand(['apply', '--server-side'], service([{ name: 'theirs', port: 80, targetPort: 8080 }]))
    const ours = service(
      [
        { name: 'theirs', port: 80, targetPort: 9090 },
        { name: 'ours', port: 81 },
      ],
      { 'kustomize.toolkit.fluxcd.io/ssa': 'Merge' },
    )
    const entries = await applier.apply([ours])
    assert.match(whyOf(entries, 's'), '.spec.ports[port=80,protocol="TCP"].targetPort (kubectl) left to others')
    const { spec } = await kube.read<{ spec: { ports: { port: number; targetPort: number }[] } }>(
      `/api/v1/namespaces/${namespace}/services/s`,
    )
    assert.equal(
      spec.ports.map(({ port, targetPort }) => [port, targetPort]),
      [
        [80, 8080],
        [81, 81],
      ],
    )
  })

  it('makes an object once where the manifest asks for that, and leaves it alone then', async () => {
    const once = (x: string) => annotated('a', { x }, { 'gitops.berth.dev/apply': 'if-not-present' })
    assert.equal(said(await applier.apply([once('1')])), ['ConfigMap a created'])
    assert.equal(said(await applier.apply([once('2')])), ['ConfigMap a unchanged'])
    assert.equal((await get('a'))?.data, { x: '1' })
    await kube.delete(ConfigMaps, { name: 'a', namespace })
    assert.equal(said(await applier.apply([once('3')])), ['ConfigMap a created'])
  })

  it('neither changes nor keeps an object that was there before and is to be made once', async () => {
    await byHand(['create'], configMap('a', { x: 'hand' }))
    const entries = await applier.apply([annotated('a', { x: 'git' }, { 'gitops.berth.dev/apply': 'if-not-present' })])
    assert.equal(said(entries), ['ConfigMap a skipped'])
    assert.is((await get('a'))?.metadata.labels?.[OWNER_LABEL], undefined)
    assert.equal(applier.held, [])
  })

  it('does nothing with an object whose manifest asks to ignore it', async () => {
    const entries = await applier.apply([annotated('a', {}, { 'gitops.berth.dev/apply': 'ignore' })])
    assert.equal(said(entries), ['ConfigMap a skipped'])
    assert.is(await get('a'), undefined)
    assert.equal(applier.held, [])
  })

  it('leaves an object alone while it is marked in the cluster, and goes on when the mark is gone', async () => {
    await applier.apply([configMap('a', { x: '1' })])
    const mark = (value: string | null) =>
      kube.patch(
        ConfigMaps,
        { name: 'a', namespace },
        { metadata: { annotations: { 'kustomize.toolkit.fluxcd.io/reconcile': value } } },
      )
    await mark('disabled')
    assert.equal(said(await applier.apply([configMap('a', { x: '2' })])), ['ConfigMap a skipped'])
    assert.equal((await get('a'))?.data, { x: '1' })
    assert.equal(
      applier.held.map(({ id }) => id.name),
      ['a'],
    )
    await mark(null)
    assert.equal(said(await applier.apply([configMap('a', { x: '2' })])), ['ConfigMap a configured'])
  })

  it('believes the watched states only as long as nothing has happened since', async () => {
    await applier.apply([configMap('a', { x: '1' }), configMap('b', { x: '1' })])
    const known = await Promise.all(['a', 'b'].map(get))
    const states = new Map(
      known.map((object) => {
        const { uid, resourceVersion: version = '' } = object?.metadata ?? {}
        const key = `/ConfigMap/${namespace}/${object?.metadata.name}`
        return [key, { presence: 'present' as const, uid, version, drift: [], health: { status: 'Healthy' as const } }]
      }),
    )
    const change = (name: string, metadata: object) => kube.patch(ConfigMaps, { name, namespace }, { metadata })
    await change('a', { labels: { [OWNER_LABEL]: 'another' } })
    await change('b', { annotations: { 'gitops.berth.dev/apply': 'ignore' } })
    const entries = await applier.apply([configMap('a', { x: '2' }), configMap('b', { x: '2' })], { states })
    assert.equal(said(entries), ['ConfigMap a failed', 'ConfigMap b skipped'])
    assert.match(whyOf(entries, 'a'), 'is kept by')
    assert.equal([(await get('a'))?.data, (await get('b'))?.data], [{ x: '1' }, { x: '1' }])
  })

  it('refuses an object of a sync that nobody knows, until the manifest says adopt', async () => {
    await createApplier(kube, namespace, 'Test team-b/gone').apply([configMap('a', { x: '1', old: '1' })])
    const uid = (await get('a'))?.metadata.uid
    const refused = await applier.apply([configMap('a', { x: '2' })])
    assert.match(whyOf(refused, 'a'), /is kept by Test team-b\/gone\. .*annotate the manifest gitops\.berth\.dev\/adopt: "true"/)
    assert.equal(said(await applier.apply([annotated('a', { x: '2' }, { 'gitops.berth.dev/adopt': 'true' })])), [
      'ConfigMap a configured',
    ])
    const live = await get('a')
    assert.equal([live?.metadata.uid, live?.metadata.labels?.[OWNER_LABEL], live?.data], [uid, applier.owner.id, { x: '2' }])
  })

  it('takes an object that its owner gives up, with all its fields, and none that its owner still wants', async () => {
    const merge = { 'gitops.berth.dev/apply': 'merge' }
    await createApplier(kube, namespace, 'Test team-b/web').apply([
      configMap('a', { x: '1', old: '1' }),
      configMap('m', { x: '1' }),
    ])
    const wanted = await applier.apply([annotated('a', { x: '2' }, { 'gitops.berth.dev/adopt': 'true' })], {
      standing: () => 'wants',
    })
    assert.match(whyOf(wanted, 'a'), /is kept by Test team-b\/web\. Remove the object from one of the two/)
    const given = await applier.apply([configMap('a', { x: '2' }), annotated('m', { x: '2' }, merge)], {
      standing: () => 'releases',
    })
    assert.equal(said(given), ['ConfigMap a configured', 'ConfigMap m configured'])
    assert.equal([(await get('a'))?.data, (await get('m'))?.data], [{ x: '2' }, { x: '2' }])
    assert.is((await get('m'))?.metadata.labels?.[OWNER_LABEL], applier.owner.id)
  })
})

const EMPTY = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' } }
