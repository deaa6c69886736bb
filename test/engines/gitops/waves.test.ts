import * as assert from 'uvu/assert'
import { type AnyObject, ConfigMaps } from '../../../src/api/index.ts'
import { idOf, keyOfId } from '../../../src/engines/apply/object-id.ts'
import { apply } from '../../../src/engines/gitops/apply/apply.ts'
import { unknownWish, waveOf } from '../../../src/engines/gitops/objects/annotations.ts'
import type { Desired } from '../../../src/engines/gitops/objects/place.ts'
import { topologicalOrder } from '../../../src/engines/gitops/objects/topological-order.ts'
import { inTurns, type Leaver } from '../../../src/engines/gitops/prune/turns.ts'
import { systemClock } from '../../../src/std/index.ts'
import { type Applier, createApplier, said, whyOf } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const OURS = 'gitops.berth.dev/wave'
const THEIRS = 'argocd.argoproj.io/sync-wave'

/** The object in this wave; in none where it is `undefined`. */
const inWave = <T extends { metadata: object }>(object: T, wave: number | string | undefined, annotation = OURS): T =>
  wave === undefined ? object : { ...object, metadata: { ...object.metadata, annotations: { [annotation]: String(wave) } } }

const desired = (object: AnyObject): Desired => ({
  id: idOf(object),
  key: keyOfId(idOf(object)),
  version: 'v1',
  object,
  source: 'a.yaml:1',
  hash: '',
})

const stepsOf = (objects: AnyObject[]) => {
  const list = objects.map(desired)
  const waves = new Map(list.map(({ key, object }) => [key, waveOf(object)]))
  return topologicalOrder(list, { waves })
}
const namesOf = ({ steps }: ReturnType<typeof stepsOf>) => steps.map((step) => step.map(({ id }) => id.name).join())

describe('the wave of an object', (it) => {
  it('is a whole number, ours before theirs, and 0 where nothing is said', () => {
    const table: [Record<string, string> | undefined, number][] = [
      [undefined, 0],
      [{ [OURS]: '5' }, 5],
      [{ [OURS]: '-5' }, -5],
      [{ [THEIRS]: '+7' }, 7],
      [{ [THEIRS]: ' 3 ' }, 3],
      [{ [OURS]: '1', [THEIRS]: '2' }, 1],
      [{ [OURS]: '0', [THEIRS]: '2' }, 0],
    ]
    for (const [annotations, wave] of table)
      assert.is(waveOf({ ...configMap('a'), metadata: { name: 'a', ...(annotations && { annotations }) } }), wave)
  })

  it('is refused where it is none, whoever has written it', () => {
    for (const annotation of [OURS, THEIRS])
      for (const value of ['first', '1.5', '', '1e3', '99999999999'])
        assert.is(
          unknownWish(inWave(configMap('a'), value, annotation)),
          `is annotated ${annotation}: ${JSON.stringify(value)}; write a whole number, such as "-5" or "10"`,
        )
    assert.is(unknownWish(inWave(configMap('a'), -5)), undefined)
  })
})

describe('the order of a set in waves', (it) => {
  it('goes from the lowest to the highest, and by kind within each', () => {
    const deployment = { ...configMap('d'), apiVersion: 'apps/v1', kind: 'Deployment' }
    const objects = [inWave(configMap('last'), 10), configMap('a'), deployment, inWave(configMap('first'), -3), configMap('b')]
    assert.equal(namesOf(stepsOf(objects)), ['first', 'a,b', 'd', 'last'])
  })

  it('brings a namespace and a definition with the first that needs them', () => {
    const names = { plural: 'widgets', kind: 'Widget' }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets' },
      spec: { group: 'example.com', names },
    }
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'n' } }
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
    const order = stepsOf([definition, configMap('a'), inWave(home, 4), inWave(widget, -1)])
    assert.is(order.faults.size, 0)
    assert.equal(namesOf(order), ['widgets', 'n', 'w', 'a'])
  })

  it('names a circle with a dependency that goes against it', () => {
    const on = { metadata: { name: 'a', namespace: 'n', annotations: { 'gitops.berth.dev/depends-on': '/ConfigMap/n/b' } } }
    const { faults } = stepsOf([{ ...configMap('a'), ...on }, inWave(configMap('b', {}, 'n'), 5)])
    assert.match([...faults.values()][0] ?? '', 'ConfigMap n/a -> ConfigMap n/b -> wave 5 -> ConfigMap n/a')
  })

  it('takes no time that grows with the square of it', () => {
    const all = Array.from({ length: 50_000 }, (_, at) => inWave(configMap(`c${at}`), at % 10))
    const spent = effort()
    const { steps } = stepsOf(all)
    assert.is(steps.length, 10)
    assert.ok(spent() < 10_000, `${spent()} ms`)
  })
})

describe('objects in waves', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('waves')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())
  const get = (name: string) => kube.get(ConfigMaps, { name, namespace })

  it('are applied in one sync where everything is healthy at once', async () => {
    const set = [inWave(configMap('c'), 2), inWave(configMap('a'), -1), configMap('b'), inWave(configMap('d'), 3, THEIRS)]
    assert.equal(
      said(await applier.apply(set)),
      ['a', 'b', 'c', 'd'].map((name) => `ConfigMap ${name} created`),
    )
  })

  it('wait for all waves before theirs, and name the first that is not healthy', async () => {
    const set = [inWave(configMap('a'), -1), configMap('b'), inWave(configMap('c'), 1)]
    const judged = (status: 'Healthy' | 'Progressing') => applier.apply(set, { healthOf: () => ({ status }) })
    const entries = await judged('Progressing')
    assert.equal(said(entries), ['ConfigMap a created', 'ConfigMap b waiting', 'ConfigMap c waiting'])
    for (const name of ['b', 'c'])
      assert.match(whyOf(entries, name), `comes after ConfigMap ${namespace}/a, which is Progressing`)
    assert.equal([await get('b'), await get('c')], [undefined, undefined])
    assert.equal(said(await judged('Healthy')).slice(1), ['ConfigMap b created', 'ConfigMap c created'])
  })

  it('are skipped when one of an earlier wave could not be applied, or was refused before', async () => {
    const bad = { ...inWave(configMap('bad'), -1), surprise: true }
    const entries = await applier.apply([bad, configMap('app')])
    assert.equal(said(entries), ['ConfigMap bad failed', 'ConfigMap app skipped'])
    assert.match(whyOf(entries, 'app'), `comes after ConfigMap ${namespace}/bad, which could not be applied`)
    const strange = inWave({ ...configMap('strange'), apiVersion: 'nowhere.example.com/v1', kind: 'Thing' }, -1)
    assert.equal(said(await applier.apply([strange, configMap('app')])), ['Thing strange failed', 'ConfigMap app skipped'])
    assert.is(await get('app'), undefined)
  })

  it('do not wait for one that is left alone, and not for a Job that has gone when it was done', async () => {
    const ignored = {
      ...configMap('ignored'),
      metadata: { name: 'ignored', annotations: { 'gitops.berth.dev/apply': 'ignore' } },
    }
    const job = {
      ...inWave({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' } }, -1),
      spec: {
        ttlSecondsAfterFinished: 0,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.example.com/none:1' }] } },
      },
    }
    const item = desired({ ...job, metadata: { ...job.metadata, namespace } })
    const app = desired(inWave(configMap('app', {}, namespace), 1))
    const left = desired({ ...ignored, metadata: { ...ignored.metadata, namespace } })
    const waves = new Map([item, app].map(({ key, object }) => [key, waveOf(object)]))
    const entries = await apply([app], { kube, clock: systemClock, owner: 'test', held: [], set: [item, left, app], waves })
    assert.equal(said(entries), ['ConfigMap app created'])
  })

  it('are deleted from the last wave to the first', async () => {
    const leaver = (name: string, wave: number): Leaver => {
      const { id, key } = desired(configMap(name, {}, 'n'))
      return { held: { id, key, version: 'v1' }, object: undefined, needs: [], wave }
    }
    const order: string[] = []
    const stuck = new Set<string>()
    const leave = (leavers: Leaver[], others: Leaver[] = []) =>
      inTurns({
        clock: systemClock,
        leavers,
        others,
        until: Number.POSITIVE_INFINITY,
        async remove({ held: { id } }) {
          order.push(id.name)
          return stuck.has(id.name) ? 'terminating' : 'gone'
        },
      })
    const all = [leaver('a', -1), leaver('b', 0), leaver('c', 7), leaver('d', 7)]
    assert.equal(await leave(all), [])
    assert.equal(order.splice(0), ['c', 'd', 'b', 'a'])
    stuck.add('c')
    const late = await leave(all)
    assert.equal(order.splice(0), ['c', 'd'])
    assert.equal(
      late.map(({ leaver: { held }, behind }) => [held.id.name, behind[0]?.name]),
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
    )
    assert.equal((await leave([leaver('a', -1)], [leaver('c', 7)])).length, 1)
  })

  it('take little time and memory when thousands leave, each in a wave of its own or before one that all depend on', async () => {
    const ids = Array.from({ length: 8000 }, (_, n) => desired(configMap(`leaves-${n}`, {}, 'n')))
    const leave = (leaverOf: (n: number) => Pick<Leaver, 'needs' | 'wave'>) =>
      inTurns({
        clock: systemClock,
        leavers: ids.map(({ id, key }, n) => ({ held: { id, key, version: 'v1' }, object: undefined, ...leaverOf(n) })),
        others: [],
        until: 0,
        remove: () => Promise.resolve('gone'),
      })
    const first = ids[0]?.id
    const spent = effort()
    const apart = await leave((n) => ({ needs: [], wave: n }))
    const leaning = await leave(() => ({ needs: first ? [first] : [], wave: 0 }))
    // Of the CPU, in milliseconds: all that is in the way of each were 32 million, and most of the memory of a program.
    const took = spent()
    assert.ok(took < 2000, `took ${Math.round(took)} ms`)
    assert.is(apart.length + leaning.length, 16_000)
    assert.is(Math.max(...[...apart, ...leaning].map(({ behind }) => behind.length)), 10)
    assert.is(apart[7]?.behind[0]?.name, 'leaves-8')
  })
})
