import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { connect, type Kube } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, ConfigMaps, CustomResourceDefinitions, Namespaces } from '../../../src/api/index.ts'
import { idOf, keyOfId, refOfId } from '../../../src/engines/apply/object-id.ts'
import { type Entry, type Held, OWNER_LABEL } from '../../../src/engines/gitops/index.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { GUARDS } from '../../../src/engines/gitops/prune/guards.ts'
import { type Pruning, prune } from '../../../src/engines/gitops/prune/prune.ts'
import { stateOf, type WatchedObject, watchedIn } from '../../../src/engines/gitops/state/object-state.ts'
import { Failure, systemClock } from '../../../src/std/index.ts'
import { grant } from '../../support/builders/credentials.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually, expectGone } from '../../support/verbs.ts'

const told = (entries: readonly Entry[]) => entries.map(({ id, change }) => `${id.kind} ${id.name} ${change}`).sort()
const why = (entries: readonly Entry[], name: string) => entries.find(({ id }) => id.name === name)?.why ?? ''
const reason = (entries: readonly Entry[], name: string) => entries.find(({ id }) => id.name === name)?.failure?.reason

const widgets = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v2',
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
})

describe('a prune', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const requests: string[] = []
  const counted = connect({ kubeconfig: cluster.kubeconfig, meter: ({ verb }) => void requests.push(verb) })
  const made: string[] = []
  let namespace = ''
  let owner = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('prune')
    owner = randomUUID()
  })
  it.after(async () => {
    for (const name of made) await kube.delete(CustomResourceDefinitions, { name })
    await counted.close()
    await cluster.close()
  })

  /** The objects are there, with our mark, and in the inventory. */
  async function given(...objects: AnyObject[]): Promise<Held[]> {
    const marked = objects.map((object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, [OWNER_LABEL]: owner } },
    }))
    return (await apply(kube, marked, { namespace })).map(heldOf)
  }
  const heldOf = (object: AnyObject): Held => ({
    id: idOf(object),
    key: keyOfId(idOf(object)),
    version: object.apiVersion.replace(/.*\//, ''),
    ...(object.metadata.uid && { uid: object.metadata.uid }),
  })
  const run = (leaving: Held[], more: Partial<Pruning> = {}) =>
    prune(leaving, { kube: counted, clock: systemClock, owner, held: leaving, rendered: 1, guards: GUARDS, ...more })
  /** As a watch has seen them by now. */
  async function marks(held: readonly Held[]): Promise<Pruning['watched']> {
    const seen = new Map<string, WatchedObject>()
    for (const { id, version } of held) {
      const kind = await kube.resolve(apiVersionOf({ group: id.group, version }), id.kind)
      const object = kind && (await kube.get(kindOfAny(kind), refOfId(id)))
      const watched = object && watchedIn(stateOf(object, undefined, systemClock))
      if (watched) seen.set(keyOfId(id), watched)
    }
    return (key) => seen.get(key)
  }
  const via = (change: Partial<Kube>): Partial<Pruning> => ({ kube: { ...kube, ...change } })
  const noting = (order: string[], change: Partial<Kube> = {}) =>
    via({
      ...change,
      delete: (kind, ref, how) => {
        order.push(ref.name)
        return kube.delete(kind, ref, how)
      },
    })
  const at = (name: string) => ({ name, namespace })
  const there = (name: string) => kube.get(ConfigMaps, at(name))
  const finalized = (name: string) => ({ ...configMap(name), metadata: { name, finalizers: ['example.com/wait'] } })
  const space = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const group = async () => {
    const name = `x${randomUUID().slice(0, 8)}.example.com`
    made.push(`widgets.${name}`)
    return name
  }
  const widget = (in_: string, name: string, metadata: object = {}) => ({
    apiVersion: `${in_}/v1`,
    kind: 'Widget',
    metadata: { name, ...metadata },
  })
  const definedBy = async (name: string) => {
    const [definition] = await given(widgets(name))
    await eventually(
      async () =>
        (await kube.resolve(`${name}/v1`, 'Widget')) !== undefined && (await kube.resolve(`${name}/v2`, 'Widget')) !== undefined,
    )
    return definition ? [definition] : []
  }

  /** What is in a namespace can be told only while no kind of another test comes or goes, so it is tried again. */
  const leaves = (name: string, again: () => Promise<Entry[]>) =>
    eventually(async () => {
      await again()
      const home = await kube.get(Namespaces, { name })
      return !home || home.metadata.deletionTimestamp !== undefined
    })

  it('deletes what is ours, and nothing else that is called so', async () => {
    const held = await given(configMap('a'), configMap('b'), configMap('c'))
    await kube.patch(ConfigMaps, { name: 'b', namespace }, { metadata: { labels: { [OWNER_LABEL]: 'another' } } })
    await kube.patch(ConfigMaps, at('c'), { metadata: { annotations: { 'gitops.berth.dev/prune': 'disabled' } } })
    const entries = await run(held)
    assert.equal(told(entries), ['ConfigMap a pruned', 'ConfigMap b skipped', 'ConfigMap c skipped'])
    assert.is(await there('a'), undefined)
    assert.ok((await there('b')) && (await there('c')))
  })

  it('asks once for many, and deletes each with one request', async () => {
    const held = await given(...Array.from({ length: 12 }, (_, n) => configMap(`many-${n}`)))
    requests.length = 0
    const entries = await run(held, { guards: { ...GUARDS, maxPercent: 100 } })
    assert.ok(entries.every(({ change }) => change === 'pruned'))
    assert.ok(requests.length <= 12 + 2, `${requests}`)
  })

  it('deletes with one request what a watch has seen, unless it has changed since', async () => {
    const held = await given(configMap('a'), configMap('b'))
    const watched = await marks(held)
    await kube.patch(ConfigMaps, { name: 'b', namespace }, { metadata: { labels: { [OWNER_LABEL]: 'another' } } })
    await run([])
    requests.length = 0
    const entries = await run(held, { watched })
    assert.equal(told(entries), ['ConfigMap a pruned', 'ConfigMap b skipped'])
    assert.ok(requests.length <= 2 + 2, `a delete each, a refusal and a look: ${requests}`)
    assert.ok(await there('b'))
  })

  it('tells what takes its time, goes on with the others, and does not wait', async () => {
    const held = await given(finalized('slow'), configMap('fast'))
    const first = await run(held)
    assert.equal(told(first), ['ConfigMap fast pruned', 'ConfigMap slow terminating'])
    const second = await run(held)
    assert.match(why(second, 'slow'), /is being deleted since 20.*waits for finalizers example\.com\/wait/)
    await kube.patch(ConfigMaps, { name: 'slow', namespace }, { metadata: { finalizers: null } })
    assert.equal(told(await run(held)), ['ConfigMap fast pruned', 'ConfigMap slow pruned'])
  })

  it('tells a refusal and tries the next time', async () => {
    const held = await given(configMap('a'))
    const refused = new Failure('forbidden', 'admission webhook "keep" denied the request')
    const entries = await run(held, via({ delete: () => Promise.reject(refused) }))
    assert.equal(told(entries), ['ConfigMap a failed'])
    assert.match(why(entries, 'a'), 'admission webhook "keep" denied')
    assert.equal(told(await run(held)), ['ConfigMap a pruned'])
  })

  it('deletes members before their namespace, and the namespace when they are gone', async () => {
    const name = `${namespace}-made`
    const [home] = await given(space(name))
    const [fast, slow] = await given(configMap('fast', {}, name), {
      ...finalized('slow'),
      metadata: { ...finalized('slow').metadata, namespace: name },
    })
    const held = [home, fast, slow].flatMap((item) => item ?? [])
    const entries = await run(held)
    assert.equal(told(entries), ['ConfigMap fast pruned', 'ConfigMap slow terminating', `Namespace ${name} waiting`])
    assert.match(why(entries, name), `is deleted when ConfigMap ${name}/slow is gone`)
    assert.is((await kube.get(Namespaces, { name }))?.metadata.deletionTimestamp, undefined)
    await kube.patch(ConfigMaps, { name: 'slow', namespace: name }, { metadata: { finalizers: null } })
    await leaves(name, () => run(held))
  })

  it('keeps a namespace in which others have something until that is confirmed', async () => {
    const name = `${namespace}-shared`
    const held = await given(space(name))
    const foreign = { name: 'foreign', namespace: name }
    await kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: foreign })
    const entries = await run(held)
    assert.equal([told(entries), reason(entries, name)], [[`Namespace ${name} withheld`], 'NamespaceInUse'])
    assert.match(why(entries, name), `ConfigMap ${name}/foreign`)
    await leaves(name, () => run(held, { confirmed: true }))
  })

  it('keeps a namespace in which something of its own is to stay, even if it is confirmed', async () => {
    const name = `${namespace}-own`
    const [home] = await given(space(name))
    const [member] = await given(configMap('member', {}, name))
    const held = [home, member].flatMap((item) => item ?? [])
    const entries = await run(held.slice(0, 1), { held, confirmed: true })
    assert.equal([told(entries), reason(entries, name)], [[`Namespace ${name} withheld`], 'NamespaceInUse'])
    await kube.patch(
      ConfigMaps,
      { name: 'member', namespace: name },
      { metadata: { annotations: { 'gitops.berth.dev/prune': 'disabled' } } },
    )
    assert.equal(told(await run(held)), ['ConfigMap member skipped', `Namespace ${name} withheld`])
    // Not held any more: now only looking can tell.
    assert.equal(told(await run(held.slice(0, 1))), [`Namespace ${name} withheld`])
    await kube.delete(Namespaces, { name })
  })

  it('takes a namespace that may not be looked into for one in use', async () => {
    const name = `${namespace}-dark`
    const held = await given(space(name))
    const refuse = (code: 'forbidden' | 'not-found') => () => {
      throw new Failure(code, 'User "x" cannot list resource "pods"')
    }
    const entries = await run(held, via({ pages: refuse('forbidden') }))
    assert.match(`${reason(entries, name)}: ${why(entries, name)}`, /^NamespaceInUse: .*cannot list resource "pods"/)
    const pages: Kube['pages'] = (kind, ...of) => (kind.kind === 'Lease' ? refuse('not-found')() : kube.pages(kind, ...of))
    assert.equal(told(await run(held, via({ pages }))), [`Namespace ${name} terminating`], 'nothing that counts is there')
  })

  it('deletes custom resources before their definition, and that when they are gone', async () => {
    const name = await group()
    const definition = await definedBy(name)
    const slow = await given(widget(name, 'slow', { finalizers: ['example.com/wait'] }))
    const held = [...definition, ...slow]
    const entries = await run(held)
    assert.equal(told(entries), [`CustomResourceDefinition widgets.${name} waiting`, 'Widget slow terminating'])
    const widgetKind = await kube.resolve(`${name}/v1`, 'Widget')
    if (widgetKind) await kube.patch(widgetKind, { name: 'slow', namespace }, { metadata: { finalizers: null } })
    assert.equal(told(await run(held)).at(-1), 'Widget slow pruned')
    await expectGone(kube, CustomResourceDefinitions, { name: `widgets.${name}` })
  })

  it('keeps a definition of which others have resources', async () => {
    const name = await group()
    const definition = await definedBy(name)
    await apply(kube, [widget(name, 'foreign')], { namespace })
    const entries = await run(definition)
    assert.is(reason(entries, `widgets.${name}`), 'DefinitionInUse')
    assert.match(why(entries, `widgets.${name}`), `Widget.${name} ${namespace}/foreign`)
    await run(definition, { confirmed: true })
    await expectGone(kube, CustomResourceDefinitions, { name: `widgets.${name}` })
  })

  it('gives a controller time for the resources that leave with it', async () => {
    const name = await group()
    const definition = await definedBy(name)
    const [slow] = await given(widget(name, 'slow', { finalizers: ['example.com/wait'] }))
    const [settings] = await given(configMap('controller-settings'))
    const held = [slow, settings].flatMap((item) => item ?? [])
    const whole = { held: [...held, ...definition] }
    assert.equal(told(await run(held, whole)), ['ConfigMap controller-settings waiting', 'Widget slow terminating'])
    const later = { ...systemClock, now: () => systemClock.now() + 3 * 60_000 }
    assert.equal(told(await run(held, { ...whole, clock: later })), [
      'ConfigMap controller-settings pruned',
      'Widget slow terminating',
    ])
    const kind = await kube.resolve(`${name}/v1`, 'Widget')
    if (kind) await kube.patch(kind, { name: 'slow', namespace }, { metadata: { finalizers: null } })
  })

  it('deletes in the same order where watches say what is there', async () => {
    const on = { annotations: { 'gitops.berth.dev/depends-on': `/ConfigMap/${namespace}/c` } }
    const held = await given({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'b', ...on } }, configMap('c'))
    const order: string[] = []
    const watched = noting(order, {
      get: () => Promise.reject(new Failure('internal', 'nothing is looked at')),
    })
    const entries = await run(held, { ...watched, watched: await marks(held) })
    assert.equal(told(entries), ['ConfigMap c pruned', 'ServiceAccount b pruned'])
    assert.equal(order, ['b', 'c'])
  })

  it('judges anew what has changed since a watch told of it: somebody may have asked to be asked', async () => {
    const held = await given(configMap('a'))
    const watched = await marks(held)
    await kube.patch(ConfigMaps, at('a'), { metadata: { annotations: { 'gitops.berth.dev/prune': 'confirm' } } })
    const entries = await run(held, { watched })
    assert.equal([told(entries), reason(entries, 'a')], [['ConfigMap a withheld'], 'ConfirmationNeeded'])
    assert.ok(await there('a'))
    assert.equal(told(await run(held, { watched, confirmed: true })), ['ConfigMap a pruned'])
  })

  it('deletes what depends on something before it, against the order of kinds', async () => {
    const on = (id: string) => ({ annotations: { 'gitops.berth.dev/depends-on': id } })
    const a = { ...finalized('a'), metadata: { ...finalized('a').metadata, ...on(`/ServiceAccount/${namespace}/b`) } }
    const b = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'b', ...on(`/ConfigMap/${namespace}/c`) } }
    const held = await given(a, b, configMap('c'))
    assert.equal(told(await run(held)), ['ConfigMap a terminating', 'ConfigMap c waiting', 'ServiceAccount b waiting'])
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { metadata: { finalizers: null } })
    const order: string[] = []
    const watched = noting(order)
    assert.equal(told(await run(held, watched)), ['ConfigMap a pruned', 'ConfigMap c pruned', 'ServiceAccount b pruned'])
    assert.equal(order, ['b', 'c'])
  })

  it('is not stopped by a circle of dependencies', async () => {
    const on = (name: string) => ({ annotations: { 'gitops.berth.dev/depends-on': `/ConfigMap/${namespace}/${name}` } })
    const held = await given(
      { ...configMap('a'), metadata: { name: 'a', ...on('b') } },
      { ...configMap('b'), metadata: { name: 'b', ...on('a') } },
    )
    assert.equal(told(await run(held)), ['ConfigMap a pruned', 'ConfigMap b pruned'])
  })

  it('has nothing to delete where the kind is gone', async () => {
    const id = { group: 'gone.example.com', kind: 'Thing', namespace, name: 't' }
    const gone: Held = { id, key: keyOfId(id), version: 'v1' }
    assert.equal(told(await run([gone])), ['Thing t pruned'])
  })

  it('finds objects in another version when theirs is not served any more', async () => {
    const name = await group()
    await definedBy(name)
    const held = await given(widget(name, 'w'))
    const versions = widgets(name).spec.versions.map((version) => ({ ...version, served: version.name === 'v2' }))
    await kube.patch(CustomResourceDefinitions, { name: `widgets.${name}` }, { spec: { versions } })
    await eventually(async () => {
      const { versions: served } = await kube.read<{ versions: { version: string }[] }>(`/apis/${name}`)
      return served.length === 1
    })
    assert.equal(told(await run(held)), ['Widget w pruned'])
    const kind = await kube.resolve(`${name}/v2`, 'Widget')
    assert.is(kind && (await kube.get(kind, { name: 'w', namespace })), undefined)
  })

  it('holds back all when too many would go, counts what is left of them, and lets them go when it is confirmed', async () => {
    const held = await given(...Array.from({ length: 12 }, (_, n) => configMap(`many-${n}`)))
    const entries = await run(held.slice(0, 8), { held })
    assert.ok(entries.every(({ change, failure }) => change === 'withheld' && failure?.reason === 'PruneTooMany'))
    assert.match(entries[0]?.why ?? '', /8 of 12 objects/)
    assert.ok(await there('many-0'))
    for (const name of ['many-0', 'many-1']) await kube.delete(ConfigMaps, { name, namespace })
    assert.ok(
      (await run(held.slice(0, 8), { held })).every(({ change }) => change === 'pruned'),
      'six of twelve may go',
    )
    const rest = held.slice(8)
    assert.equal(
      (await run(rest, { rendered: 0 })).map(({ failure }) => failure?.reason),
      rest.map(() => 'NothingRendered'),
    )
    assert.ok((await run(rest, { rendered: 0, confirmed: true })).every(({ change }) => change === 'pruned'))
  })

  it('asks before it deletes what is annotated so, and what that is needed for', async () => {
    const asking = { annotations: { 'gitops.berth.dev/prune': 'confirm' } }
    const held = await given({ ...configMap('a'), metadata: { name: 'a', ...asking } }, configMap('b'))
    const entries = await run(held)
    assert.equal([told(entries), reason(entries, 'a')], [['ConfigMap a withheld', 'ConfigMap b pruned'], 'ConfirmationNeeded'])
    assert.equal(told(await run(held, { confirmed: true })), ['ConfigMap a pruned', 'ConfigMap b pruned'])
  })

  it('spares a volume claim that holds data, except where the deployment itself is deleted', async () => {
    const claim = (name: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Mi' } } },
    })
    const held = await given(claim('full'), claim('empty'))
    const claims = await kube.resolve('v1', 'PersistentVolumeClaim')
    if (claims) await kube.patch(claims, { name: 'full', namespace }, { status: { phase: 'Bound' } }, { subresource: 'status' })
    const entries = await run(held)
    assert.is(reason(entries, 'full'), 'ProtectedKind')
    assert.is.not(entries.find(({ id }) => id.name === 'empty')?.change, 'withheld')
    const all = await run(held, { guards: undefined })
    assert.is.not(all.find(({ id }) => id.name === 'full')?.change, 'withheld')
  })

  it('lets go of what is outside the destination by now, and does not touch it', async () => {
    const held = await given(configMap('a'))
    const ref = { name: 'nobody', namespace }
    await grant(kube, namespace, ref.name, 'view')
    const as = kube.as({ user: `system:serviceaccount:${namespace}:${ref.name}` })
    assert.equal(told(await run(held, { kube: as })), ['ConfigMap a failed'])
    assert.equal(told(await run(held, { limits: { namespaces: ['elsewhere'] } })), ['ConfigMap a skipped'])
    assert.is((await kube.get(ConfigMaps, { name: 'a', namespace }))?.metadata.deletionTimestamp, undefined)
    assert.equal(told(await run(held, { limits: { namespaces: [namespace] } })), ['ConfigMap a pruned'])
  })

  it('stops in time and says that the rest has its turn later', async () => {
    const held = await given(configMap('a'), configMap('b'))
    const times = [0, 0].values()
    const clock = { ...systemClock, now: () => times.next().value ?? 80_000 }
    const entries = await run(held, { clock })
    assert.ok(entries.some(({ change }) => change === 'waiting'))
    assert.match(entries.find(({ change }) => change === 'waiting')?.why ?? '', /next reconcile/)
  })
})
