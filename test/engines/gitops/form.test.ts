import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import { sayEntry } from '../../../src/engines/gitops/objects/change-set.ts'
import { formed } from '../../../src/engines/gitops/objects/form.ts'
import { manifestsIn } from '../../../src/engines/render/manifest.ts'
import { createApplier, whyOf } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

const LONG = 'x'.repeat(60_000)
const ODD = [null, 5, 1.5, true, '', 'a b', LONG, [], ['a'], [null], {}, { a: 'b' }, { a: 5 }, { a: null }, { [LONG]: 'a' }, [{}]]

const METADATA = [
  'namespace',
  'labels',
  'annotations',
  'finalizers',
  'generateName',
  'ownerReferences',
  'managedFields',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'resourceVersion',
  'selfLink',
  'uid',
  'unknown',
]
const ANNOTATIONS = [
  'gitops.berth.dev/prune',
  'gitops.berth.dev/apply',
  'gitops.berth.dev/force',
  'gitops.berth.dev/adopt',
  'gitops.berth.dev/variables',
  'gitops.berth.dev/depends-on',
  'gitops.berth.dev/sync',
  'gitops.berth.dev/owner',
  'config.kubernetes.io/depends-on',
  'argocd.argoproj.io/sync-options',
  'kustomize.toolkit.fluxcd.io/ssa',
  'helm.sh/resource-policy',
]

/** As the reader of the repository gives them. */
function asRead(values: readonly object[]): object[] {
  const { objects, faults } = manifestsIn({ documents: values.map((value) => ({ line: 1, value })) })
  assert.equal(faults, [])
  return objects.map(({ object }) => object)
}

describe('what a manifest may hold in its metadata', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('is told of the object that has it, and of no other', async () => {
    const namespace = await cluster.namespace('form')
    const of = (name: string, metadata: object, more: object = {}) => ({
      ...configMap(name),
      ...more,
      metadata: { name, ...metadata },
    })
    const odd = [
      ...METADATA.flatMap((field) => ODD.map((value) => ({ [field]: value }))),
      ...ANNOTATIONS.flatMap((name) => ODD.map((value) => ({ annotations: { [name]: value } }))),
      ...ANNOTATIONS.flatMap((name) => ODD.map((value) => ({ labels: { [name]: value } }))),
    ]
    const objects = odd.map((metadata, index) => of(`odd-${index}`, metadata))
    const others = [
      of('version', {}, { apiVersion: 'v1 x' }),
      of('path', {}, { apiVersion: 'a/b/c' }),
      of('kind', {}, { kind: 'Config/Map' }),
      of('long-kind', {}, { kind: LONG }),
      { ...configMap(LONG), apiVersion: 'v1' },
      configMap('..'),
      configMap('a/b'),
    ]
    const entries = await createApplier(cluster.kube, namespace).apply(asRead([...objects, ...others, configMap('good')]))
    const said = entries.map((entry) => sayEntry(entry))
    assert.equal(
      said.filter((line) => line.includes('internal error')),
      [],
    )
    assert.ok(Math.max(...said.map(({ length }) => length)) < 3000, 'a long text is cut')
    assert.is(entries.find(({ id }) => id.name === 'good')?.change, 'created')
    assert.is(entries.length, objects.length + others.length + 1)
    for (const { id, change, source } of entries) {
      assert.ok(id.name.length <= 253 && id.kind.length <= 63 && (id.namespace?.length ?? 0) <= 63, id.name.slice(0, 300))
      if (change === 'failed') assert.match(source ?? '', /^\d+\.yaml:1$/)
    }
  })

  it('is nothing, where nothing stands behind its name', async () => {
    const namespace = await cluster.namespace('form')
    const object = { ...configMap('a'), metadata: { name: 'a', namespace: null, labels: null, annotations: { note: null } } }
    const applier = createApplier(cluster.kube, namespace)
    assert.equal(
      (await applier.apply(asRead([object]))).map(({ change }) => change),
      ['created'],
    )
    assert.is((await cluster.kube.get(ConfigMaps, { name: 'a', namespace }))?.metadata.annotations?.note, '')
  })

  it('is refused with its field and a remedy', async () => {
    const namespace = await cluster.namespace('form')
    const entries = await createApplier(cluster.kube, namespace).apply(
      asRead([
        { ...configMap('a'), metadata: { name: 'a', namespace: 5 } },
        { ...configMap('b'), metadata: { name: 'b', labels: ['x'] } },
        { ...configMap('c'), metadata: { name: 'c', annotations: { n: 5 } } },
        { ...configMap('d'), apiVersion: 'v1 x' },
      ]),
    )
    assert.is(whyOf(entries, 'a'), 'has metadata.namespace 5, which is no text; put it in quotes')
    assert.is(whyOf(entries, 'b'), 'has metadata.labels ["x"]; write a mapping')
    assert.is(whyOf(entries, 'c'), 'has metadata.annotations n: 5, which is no text; put it in quotes')
    assert.is(whyOf(entries, 'd'), 'has apiVersion "v1 x", which names nothing that there can be')
  })

  it('stays the same object where it is as it should be', () => {
    const object = configMap('a', { x: '1' }, 'b')
    assert.equal(formed(object), { object })
  })
})
