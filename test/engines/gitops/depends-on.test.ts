import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps } from '../../../src/api/index.ts'
import { idOf, keyOfId, sayId } from '../../../src/engines/apply/object-id.ts'
import { dependenciesOf } from '../../../src/engines/gitops/objects/annotations.ts'
import type { Desired } from '../../../src/engines/gitops/objects/place.ts'
import { topologicalOrder } from '../../../src/engines/gitops/objects/topological-order.ts'
import { type Applier, createApplier, said, whyOf } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const OURS = 'gitops.berth.dev/depends-on'
const THEIRS = 'config.kubernetes.io/depends-on'

const on = <T extends { metadata: object }>(object: T, dependsOn: string, annotation = OURS): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [annotation]: dependsOn } },
})

const deployment = (name: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'registry.example.com/none:1' }] },
    },
    ...more,
  },
})

const desired = (object: ReturnType<typeof configMap>): Desired => ({
  id: idOf(object),
  key: keyOfId(idOf(object)),
  version: 'v1',
  object,
  source: 'a.yaml:1',
  hash: '',
})

const REFERENCES: [why: string, annotation: string, value: string, ids: string[]][] = [
  ['a namespaced object of a group', OURS, 'apps/Deployment/shop/db', ['Deployment.apps shop/db']],
  ['the core group is empty', OURS, '/ConfigMap/shop/settings', ['ConfigMap shop/settings']],
  ['no namespace', OURS, 'rbac.authorization.k8s.io/ClusterRole//reader', ['ClusterRole.rbac.authorization.k8s.io reader']],
  ['several', OURS, '/Secret/a/b , apps/Deployment/a/c,', ['Secret a/b', 'Deployment.apps a/c']],
  ['cli-utils, namespaced', THEIRS, 'apps/namespaces/shop/Deployment/db', ['Deployment.apps shop/db']],
  ['cli-utils, core group', THEIRS, '/namespaces/shop/ConfigMap/settings', ['ConfigMap shop/settings']],
  ['cli-utils, cluster-scoped', THEIRS, '/Namespace/shop', ['Namespace shop']],
]

describe('a reference to a dependency', (it) => {
  it('is read of a hundred, and of no more: each takes many times the memory of its text', () => {
    const many = (count: number) => dependenciesOf(on(configMap('a'), '/ConfigMap//b,'.repeat(count)))
    assert.is(dependenciesOf(on(configMap('a'), new Array(100).fill('/ConfigMap//b').join())).ids.length, 100)
    for (const { ids, problem } of [many(300_000), dependenciesOf(on(configMap('a'), `/ConfigMap//${'b'.repeat(20_000)}`))]) {
      assert.equal(ids, [])
      assert.match(
        problem ?? '',
        /is annotated gitops\.berth\.dev\/depends-on, and at most 100 references in 16384 characters are read/,
      )
    }
  })

  it('is read in both formats', () => {
    for (const [why, annotation, value, ids] of REFERENCES)
      assert.equal(dependenciesOf(on(configMap('a'), value, annotation)).ids.map(sayId), ids, why)
  })

  it('is told when it cannot be read', () => {
    const wrong = [
      [OURS, 'Deployment/db'],
      [OURS, 'apps/Deployment/shop/'],
      [THEIRS, 'apps/shop/Deployment/db'],
      [THEIRS, 'a/b/c/d/e'],
    ] as const
    for (const [annotation, value] of wrong)
      assert.match(dependenciesOf(on(configMap('a'), value, annotation)).problem ?? '', `${annotation}: "${value}"; write `)
  })
})

describe('the course of a set', (it) => {
  const names = (list: readonly Desired[]) => topologicalOrder(list).steps.map((step) => step.map(({ id }) => id.name))
  const set = (edges: Record<string, string>) =>
    Object.entries(edges).map(([name, to]) =>
      desired(to ? on(configMap(name, {}, 'n'), to.replace(/\w+/g, '/ConfigMap/n/$&')) : configMap(name, {}, 'n')),
    )

  it('puts dependencies before dependents, and what has none at once', () => {
    assert.equal(names(set({ a: 'b', b: 'c', c: '', d: '' })), [['c', 'd'], ['b'], ['a']])
    assert.equal(names(set({ a: 'b,c', b: 'c', c: '' })), [['c'], ['b'], ['a']])
  })

  it('is found for 200,000 references of a set, and told of the others', () => {
    const home = desired(configMap('b', {}, 'n'))
    const references = new Array(100).fill('/ConfigMap/n/b').join()
    const leaning = Array.from({ length: 2010 }, (_, at) => desired(on(configMap(`a${at}`, {}, 'n'), references)))
    const { faults, needs } = topologicalOrder([home, ...leaning])
    assert.equal([needs.size, faults.size], [2000, 10])
    assert.match([...faults.values()][0] ?? '', /when 200000 references of others have been read, and no more are/)
  })

  it('names a cycle to each object of it, and applies the others', () => {
    const { faults, steps } = topologicalOrder(set({ a: 'b', b: 'c', c: 'a', d: '', e: 'a' }))
    assert.equal(
      [...faults.keys()].sort(),
      ['a', 'b', 'c'].map((name) => keyOfId({ group: '', kind: 'ConfigMap', namespace: 'n', name })),
    )
    assert.match(
      [...faults.values()][0] ?? '',
      'cycle of dependencies: ConfigMap n/a -> ConfigMap n/b -> ConfigMap n/c -> ConfigMap n/a',
    )
    assert.equal(
      steps[0]?.map(({ id }) => id.name),
      ['d'],
    )
  })

  it('names the beginning of a large cycle, the same to all, and takes no time for it', () => {
    const all = Array.from({ length: 50_000 }, (_, at) => `c${at}`)
    const ring = set(Object.fromEntries(all.map((name, at) => [name, all[(at + 1) % all.length] ?? ''])))
    const spent = effort()
    const { faults } = topologicalOrder(ring)
    assert.ok(spent() < 10_000, `${spent()} ms`)
    assert.is(faults.size, all.length)
    assert.is(new Set(faults.values()).size, 1)
    assert.match([...faults.values()][0] ?? '', /: ConfigMap n\/c0 -> (ConfigMap n\/c\d -> ){6}…$/)
  })

  it('takes an object that depends on itself for a cycle', () => {
    assert.match([...topologicalOrder(set({ a: 'a' })).faults.values()][0] ?? '', 'ConfigMap n/a -> ConfigMap n/a')
  })

  it('sees that a namespace cannot wait for its own members', () => {
    const home = { ...configMap('n'), kind: 'Namespace' }
    const { faults } = topologicalOrder([desired(on(home, '/ConfigMap/n/a')), desired(configMap('a', {}, 'n'))])
    assert.is(faults.size, 2)
  })

  it('follows a chain of 5,000 objects', () => {
    const chain = Array.from({ length: 5000 }, (_, index) => [`c${index}`, index === 0 ? '' : `c${index - 1}`] as const)
    assert.is(topologicalOrder(set(Object.fromEntries(chain))).steps.length, 5000)
  })
})

describe('objects that depend on others', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('depends')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())
  const get = (name: string) => kube.get(ConfigMaps, { name, namespace })
  it('are applied after them in the same sync when those are healthy at once', async () => {
    const set = [on(configMap('a'), `/ConfigMap/${namespace}/b`), on(configMap('b'), '/ConfigMap//c'), configMap('c')]
    assert.equal(said(await applier.apply(set)), ['ConfigMap c created', 'ConfigMap b created', 'ConfigMap a created'])
  })

  it('wait while a dependency is on its way, and follow when it is healthy', async () => {
    const set = [
      deployment('db', { paused: true }),
      on(configMap('app'), 'apps/Deployment//db'),
      on(configMap('last'), '/ConfigMap//app'),
    ]
    const entries = await applier.apply(set)
    assert.equal(said(entries), ['Deployment db created', 'ConfigMap app waiting', 'ConfigMap last waiting'])
    assert.match(whyOf(entries, 'app'), /depends on Deployment\.apps .*\/db, which is Progressing/)
    assert.is(await get('app'), undefined)
    const judged = (status: 'Healthy' | 'Progressing') => applier.apply(set, { healthOf: () => ({ status }) })
    assert.equal(said(await judged('Progressing')).slice(1), ['ConfigMap app waiting', 'ConfigMap last waiting'])
    assert.equal(said(await judged('Healthy')).slice(1), ['ConfigMap app created', 'ConfigMap last created'])
  })

  it('are looked after without a request of their own for each: a dependency is asked once', async () => {
    let asked = 0
    const counting: Kube = {
      ...kube,
      get: (kind, ref, signal) => {
        asked++
        return kube.get(kind, ref, signal)
      },
    }
    const many = Array.from({ length: 20 }, (_, index) => on(configMap(`c-${index}`), '/ConfigMap//base'))
    const entries = await applier.apply([configMap('base'), ...many], { kube: counting })
    assert.is(entries.filter(({ change }) => change === 'created').length, 21)
    assert.is(asked, 1)
  })

  it('are skipped with the reason when a dependency could not be applied, and stay what they were', async () => {
    const app = (x: string) => on(configMap('app', { x }), '/ConfigMap//bad')
    await applier.apply([configMap('bad'), app('1')])
    const entries = await applier.apply([{ ...configMap('bad'), surprise: true }, app('2'), configMap('other')])
    assert.equal(said(entries), ['ConfigMap bad failed', 'ConfigMap other created', 'ConfigMap app skipped'])
    assert.match(whyOf(entries, 'app'), /depends on ConfigMap .*\/bad, which could not be applied/)
    assert.equal((await get('app'))?.data, { x: '1' })
    assert.ok(applier.held.some(({ id }) => id.name === 'app'))
    assert.equal(said(await applier.apply([configMap('bad'), app('2')])).at(-1), 'ConfigMap app configured')
  })

  it('wait with the reason while a dependency is degraded, for it may recover', async () => {
    const set = [configMap('base'), on(configMap('app'), '/ConfigMap//base')]
    const entries = await applier.apply(set, { healthOf: () => ({ status: 'Degraded', message: 'is broken' }) })
    assert.equal(said(entries), ['ConfigMap base created', 'ConfigMap app waiting'])
    assert.match(whyOf(entries, 'app'), 'which is Degraded: is broken')
  })

  it('are applied when a dependency is left alone on purpose and does well', async () => {
    const base = { ...configMap('base'), metadata: { name: 'base', annotations: { 'gitops.berth.dev/apply': 'ignore' } } }
    await applier.apply([configMap('base')])
    assert.equal(said(await applier.apply([base, on(configMap('app'), '/ConfigMap//base')])), [
      'ConfigMap base skipped',
      'ConfigMap app created',
    ])
  })

  it('fail when what they name is not in the set, and so does who depends on them', async () => {
    const set = [on(configMap('a'), '/ConfigMap/elsewhere/b'), on(configMap('c'), '/ConfigMap//a'), configMap('d')]
    const entries = await applier.apply(set)
    assert.equal(said(entries).sort(), ['ConfigMap a failed', 'ConfigMap c skipped', 'ConfigMap d created'])
    assert.match(whyOf(entries, 'a'), 'depends on ConfigMap elsewhere/b, which is not in this set')
  })

  it('are skipped when a dependency was refused before anything was applied', async () => {
    const set = [
      { ...configMap('a'), apiVersion: 'nowhere.example.com/v1', kind: 'Thing' },
      on(configMap('b'), 'nowhere.example.com/Thing//a'),
    ]
    assert.equal(said(await applier.apply(set)), ['Thing a failed', 'ConfigMap b skipped'])
  })

  it('fail together in a cycle', async () => {
    const set = [on(configMap('a'), '/ConfigMap//b'), on(configMap('b'), '/ConfigMap//a'), configMap('c')]
    const entries = await applier.apply(set)
    assert.equal(said(entries).sort(), ['ConfigMap a failed', 'ConfigMap b failed', 'ConfigMap c created'])
    assert.match(whyOf(entries, 'b'), /is part of a cycle of dependencies: ConfigMap .*\/b -> ConfigMap .*\/a -> ConfigMap .*\/b/)
  })
})
