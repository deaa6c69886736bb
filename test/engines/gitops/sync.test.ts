import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { connect, type Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps, Namespaces, type Ref } from '../../../src/api/index.ts'
import {
  type Entry,
  type Inventory,
  type InventoryStore,
  OWNER_LABEL,
  removeAll,
  type SyncRequest,
  sync,
} from '../../../src/engines/gitops/index.ts'
import { place } from '../../../src/engines/gitops/objects/place.ts'
import { createRenderer, type Render, type Snapshot } from '../../../src/engines/render/index.ts'
import { isFailure, systemClock } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** An inventory that remembers every version of itself. */
function memory(): InventoryStore & { saved: Inventory[] } {
  const saved: Inventory[] = []
  return {
    saved,
    load: () => Promise.resolve(saved.at(-1)),
    save(inventory) {
      saved.push(structuredClone(inventory))
      return Promise.resolve()
    },
  }
}

const said = (entries: readonly Entry[]) => entries.map(({ id, change }) => `${id.kind} ${id.name} ${change}`).sort()
const names = (inventory: Inventory | undefined) => (inventory?.held ?? []).map(({ id }) => id.name).sort()

describe('a sync', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let render: Render
  let namespace = ''
  let requests = 0
  const counted = connect({ kubeconfig: cluster.kubeconfig, meter: () => void requests++ })
  let inventory = memory()
  let owner = { id: '', title: '' }

  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
  })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('sync')
    inventory = memory()
    owner = { id: randomUUID(), title: 'Test team-a/shop' }
  })
  it.after(async () => {
    await counted.close()
    await cluster.close()
  })

  const request = (from: Snapshot, more: Partial<SyncRequest> = {}): SyncRequest => ({
    snapshot: from,
    path: '.',
    destination: { kube: counted, namespace },
    owner,
    inventory,
    ...more,
  })
  const run = (files: Record<string, string | object>, more: Partial<SyncRequest> = {}) =>
    sync(request(snapshot(files), more), { render, clock: systemClock })
  const get = (name: string) => kube.get(ConfigMaps, { name, namespace })
  const via = (change: Partial<Kube>): Partial<SyncRequest> => ({ destination: { kube: { ...kube, ...change }, namespace } })

  it('creates the objects of a directory, with our mark on them', async () => {
    const { entries } = await run({ 'a.yaml': configMap('a', { x: '1' }), 'b.yaml': configMap('b') })
    assert.equal(said(entries), ['ConfigMap a created', 'ConfigMap b created'])
    const a = await get('a')
    assert.is(a?.metadata.labels?.[OWNER_LABEL], owner.id)
    assert.equal(a?.data, { x: '1' })
    assert.equal(names(inventory.saved.at(-1)), ['a', 'b'])
  })

  it('sends no request when nothing changed', async () => {
    await run({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') })
    const [before, saves] = [requests, inventory.saved.length]
    const { entries } = await run({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') })
    assert.is(requests - before, 0)
    assert.is(inventory.saved.length, saves)
    assert.equal(said(entries), ['ConfigMap a unchanged', 'ConfigMap b unchanged'])
  })

  it('runs no hook that an earlier version kept as an object, until something else is wanted', async () => {
    const hook = { ...configMap('hook'), metadata: { name: 'hook', annotations: { 'helm.sh/hook': 'pre-install' } } }
    const manifests = [{ object: hook, source: 'hook.yaml:1' }]
    const { desired } = await place(manifests, { kube: counted, namespace }, owner)
    const [item] = desired
    assert.ok(item)
    const { metadata } = await kube.apply(ConfigMaps, { ...hook, metadata: item.object.metadata }, { manager: 'berth' })
    const { uid = '' } = metadata
    await inventory.save({ server: kube.server, held: [{ ...item, uid }] })

    const files = { 'hook.yaml': hook, 'a.yaml': configMap('a', { x: '1' }) }
    await run(files)
    await run(files)
    assert.is((await get('hook'))?.metadata.uid, uid)
    const { entries } = await run({ ...files, 'a.yaml': configMap('a', { x: '2' }) })
    assert.equal(said(entries), ['ConfigMap a configured', 'ConfigMap hook created'])
    assert.is.not((await get('hook'))?.metadata.uid, uid)
  })

  it('refuses an object with generateName by itself, where it is no hook', async () => {
    const nameless = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'some-' } }
    const { entries } = await run({ 'a.yaml': configMap('a'), 'b.yaml': nameless })
    const failed = entries.find(({ change }) => change === 'failed')
    assert.match(failed?.why ?? '', /^has generateName, which makes another object each time; give it a name, or make it a hook/)
    assert.ok(await get('a'))
  })

  it('changes one, removes one, and leaves the third alone', async () => {
    await run({ 'a.yaml': configMap('a', { x: '1', y: '1' }), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') })
    const untouched = await get('c')
    const before = requests
    const { entries } = await run({ 'a.yaml': configMap('a', { x: '2' }), 'c.yaml': configMap('c') })
    assert.ok(requests - before <= 4, `${requests - before} requests: a look, an apply, a look, a delete`)
    assert.equal(said(entries), ['ConfigMap a configured', 'ConfigMap b pruned', 'ConfigMap c unchanged'])
    assert.equal((await get('a'))?.data, { x: '2' })
    assert.is(await get('b'), undefined)
    assert.is((await get('c'))?.metadata.resourceVersion, untouched?.metadata.resourceVersion)
    assert.equal(names(inventory.saved.at(-1)), ['a', 'c'])
  })

  it('applies a namespace before what lives in it, whatever the files are called', async () => {
    const name = `${namespace}-made`
    const { entries } = await run({
      'a.yaml': configMap('in-it', {}, name),
      'z.yaml': { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    })
    assert.equal(said(entries), ['ConfigMap in-it created', `Namespace ${name} created`])
    await kube.delete(Namespaces, { name })
  })

  it('applies a CRD and its resources from one commit', async () => {
    const group = `x${owner.id.slice(0, 8)}.example.com`
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const { entries } = await run({
      'a.yaml': { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'w' } },
      'z.yaml': {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `widgets.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { kind: 'Widget', plural: 'widgets' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
    })
    assert.equal(said(entries), [`CustomResourceDefinition widgets.${group} created`, 'Widget w created'])
    const removal = { destination: { kube, namespace }, owner, inventory }
    await eventually(async () => (await removeAll(removal, systemClock)).held.length === 0)
  })

  it('goes on with the others when one object is refused, and prunes nothing then', async () => {
    await run({ 'old.yaml': configMap('old') })
    const { entries } = await run({
      'bad.yaml': { ...configMap('bad'), surprise: true },
      'good.yaml': configMap('good'),
    })
    assert.equal(said(entries), ['ConfigMap bad failed', 'ConfigMap good created'])
    assert.ok(await get('old'))
    assert.equal(names(inventory.saved.at(-1)), ['bad', 'good', 'old'])
  })

  it('names both files of an object that stands in two, in the same words or in others', async () => {
    for (const twin of [configMap('a'), configMap('a', {}, namespace)])
      try {
        await run({ 'one.yaml': configMap('a'), 'two.yaml': twin })
        assert.unreachable()
      } catch (failure) {
        assert.ok(isFailure(failure, 'invalid'))
        assert.match(failure.message, /one\.yaml:1.*two\.yaml:1/)
      }
  })

  it('refuses namespaces and scopes outside the destination, object by object', async () => {
    const destination = { kube, namespace, namespaces: [namespace] }
    const { entries } = await run(
      {
        'a.yaml': configMap('a', {}, 'kube-system'),
        'b.yaml': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'berth-never' } },
        'c.yaml': configMap('c'),
      },
      { destination },
    )
    assert.equal(said(entries), ['ConfigMap a failed', 'ConfigMap c created', 'Namespace berth-never failed'])
    assert.match(
      entries.find(({ id }) => id.name === 'a')?.why ?? '',
      /of namespace kube-system, which is outside the destination/,
    )
  })

  it('names a kind that the destination does not serve', async () => {
    const { entries } = await run({ 'a.yaml': { apiVersion: 'nowhere.example.com/v1', kind: 'Thing', metadata: { name: 't' } } })
    assert.match(entries[0]?.why ?? '', /serves no kind Thing in nowhere\.example\.com\/v1/)
  })

  it('writes the inventory before the first object, so that a crash leaves no orphan', async () => {
    const crashing = via({ apply: () => Promise.reject(new TypeError('the power went')) })
    await run({ 'a.yaml': configMap('a') }, crashing)
    assert.equal(names(inventory.saved[0]), ['a'])
    assert.is(inventory.saved[0]?.held[0]?.hash, undefined)
    const { entries } = await run({ 'b.yaml': configMap('b') })
    assert.equal(said(entries), ['ConfigMap a pruned', 'ConfigMap b created'])
  })

  it('keeps objects whose delete was refused in the inventory, and tries again', async () => {
    await run({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') })
    const refusing = via({ delete: () => Promise.reject(new TypeError('no')) })
    const refused = await run({ 'a.yaml': configMap('a') }, refusing)
    assert.equal(said(refused.entries), ['ConfigMap a unchanged', 'ConfigMap b failed'])
    assert.equal(names(inventory.saved.at(-1)), ['a', 'b'])
    const { entries } = await run({ 'a.yaml': configMap('a') })
    assert.equal(said(entries), ['ConfigMap a unchanged', 'ConfigMap b pruned'])
  })

  it('does not delete what is not ours any more, or asks to stay', async () => {
    await run({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') })
    const patch = (ref: Ref, metadata: object) => kube.patch(ConfigMaps, ref, { metadata })
    await patch({ name: 'b', namespace }, { labels: { [OWNER_LABEL]: 'another' } })
    await patch({ name: 'c', namespace }, { annotations: { 'gitops.berth.dev/prune': 'disabled' } })
    const { entries } = await run({ 'a.yaml': configMap('a') })
    assert.equal(said(entries), ['ConfigMap a unchanged', 'ConfigMap b skipped', 'ConfigMap c skipped'])
    assert.ok((await get('b')) && (await get('c')))
    assert.equal(names(inventory.saved.at(-1)), ['a'])
  })

  it('prunes nothing when the path describes no object any more', async () => {
    await run({ 'a.yaml': configMap('a') })
    const { entries } = await run({ 'notes.txt': 'empty by mistake' })
    assert.equal(said(entries), ['ConfigMap a withheld'])
    assert.ok(await get('a'))
  })

  it('lets objects go when pruning is off', async () => {
    await run({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') })
    const { entries } = await run({ 'a.yaml': configMap('a') }, { prune: false })
    assert.equal(said(entries), ['ConfigMap a unchanged', 'ConfigMap b skipped'])
    assert.ok(await get('b'))
    assert.equal(names(inventory.saved.at(-1)), ['a'])
  })

  it('repairs what was edited or deleted when it compares', async () => {
    await run({ 'a.yaml': configMap('a', { x: '1' }), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') })
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { x: 'edited', foreign: 'stays' } })
    await kube.delete(ConfigMaps, { name: 'b', namespace })
    const files = { 'a.yaml': configMap('a', { x: '1' }), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') }
    const { entries } = await run(files, { compare: true })
    assert.equal(said(entries), ['ConfigMap a configured', 'ConfigMap b created', 'ConfigMap c unchanged'])
    assert.equal((await get('a'))?.data, { x: '1', foreign: 'stays' })
  })

  it('does not take an object from another sync', async () => {
    await run({ 'a.yaml': configMap('a', { x: '1' }) })
    const other = { owner: { id: randomUUID(), title: 'Test team-b/web' }, inventory: memory() }
    const { entries } = await run({ 'a.yaml': configMap('a', { x: '2' }) }, other)
    assert.match(entries[0]?.why ?? '', /kept by Test team-a\/shop/)
    assert.equal((await get('a'))?.data, { x: '1' })
  })

  it('takes over what somebody made by hand', async () => {
    await kube.create(ConfigMaps, { ...configMap('a', { x: 'by hand' }), metadata: { name: 'a', namespace } })
    const { entries } = await run({ 'a.yaml': configMap('a', { x: '1' }) })
    assert.equal(said(entries), ['ConfigMap a configured'])
    assert.equal((await get('a'))?.data, { x: '1' })
  })

  it('forgets a key of stringData that left the repository', async () => {
    const secret = (stringData: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData })
    await run({ 's.yaml': secret({ old: 'a' }) })
    await run({ 's.yaml': secret({ new: 'b' }) })
    const live = await kube.read<{ data: object }>(`/api/v1/namespaces/${namespace}/secrets/s`)
    assert.equal(live.data, { new: Buffer.from('b').toString('base64') })
  })

  it('never repeats what the server says about the content of a Secret', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { key: 'canary-not-base64!' } }
    const { entries } = await run({ 's.yaml': secret })
    assert.is(entries[0]?.change, 'failed')
    assert.not.match(entries[0]?.why ?? '', 'canary')
  })

  it('waits for objects that take their time to go', async () => {
    const held = { ...configMap('slow'), metadata: { name: 'slow', finalizers: ['example.com/wait'] } }
    await run({ 'a.yaml': configMap('a'), 'slow.yaml': held })
    const { entries } = await run({ 'a.yaml': configMap('a') })
    assert.equal(said(entries), ['ConfigMap a unchanged', 'ConfigMap slow terminating'])
    const again = await run({ 'a.yaml': configMap('a') })
    assert.match(again.entries.find(({ id }) => id.name === 'slow')?.why ?? '', /example\.com\/wait/)
    await kube.patch(ConfigMaps, { name: 'slow', namespace }, { metadata: { finalizers: null } })
    assert.equal(said((await run({ 'a.yaml': configMap('a') })).entries), ['ConfigMap a unchanged', 'ConfigMap slow pruned'])
  })

  it('starts anew when the destination is another server, and says what stays behind', async () => {
    await run({ 'a.yaml': configMap('a') })
    const { leftBehind } = await run({ 'a.yaml': configMap('a') }, via({ server: 'https://elsewhere.example.com' }))
    assert.equal(
      leftBehind.map(({ id }) => id.name),
      ['a'],
    )
  })
})
