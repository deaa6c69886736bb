import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type Caches, createCaches, type Kube } from '../../../src/adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps } from '../../../src/api/index.ts'
import { keyOfId, type ObjectId } from '../../../src/engines/apply/index.ts'
import { type Held, INVENTORY_LABEL, type Inventory, inventoryInConfigMaps } from '../../../src/engines/gitops/index.ts'
import { heldOf, lineFor } from '../../../src/engines/gitops/inventory/inventory-config-map.ts'
import { Failure, isFailure, silentLog, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const SERVER = 'https://api.example.com'

const one = (name: string, id: ObjectId = { group: '', kind: 'ConfigMap', namespace: 'team-a', name }): Held => ({
  id,
  key: keyOfId(id),
  version: 'v1',
  uid: randomUUID(),
  hash: randomUUID().replaceAll('-', ''),
})
const many = (count: number): Held[] => Array.from({ length: count }, (_, n) => one(`settings-${n}`))
const of = (...held: Held[]): Inventory => ({ server: SERVER, held })
const byName = ({ held }: Inventory) => [...held].sort((a, b) => (a.id.name < b.id.name ? -1 : 1))

describe('an inventory in ConfigMaps', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let caches: Caches
  let cache: ReturnType<typeof caches.of<ConfigMap>>

  it.beforeEach(async () => {
    namespace = await cluster.namespace('inventory')
    caches = createCaches({ kube: cluster.kube, clock: systemClock, log: silentLog, scope: namespace })
    cache = caches.of(ConfigMaps, { labels: INVENTORY_LABEL })
    await caches.ready()
  })
  it.afterEach(() => caches.stop())
  it.after(() => cluster.close())

  /** What the store writes, in order; after so many writes the process is gone. */
  function writing(most = Number.POSITIVE_INFINITY) {
    const written: string[] = []
    const flying: Promise<unknown>[] = []
    const note = async <T>(name: string, send: () => Promise<T>): Promise<T> => {
      if (written.length >= most) throw new Failure('cancelled', 'killed')
      written.push(name)
      const answer = send()
      flying.push(answer)
      return answer
    }
    const kube: Kube = {
      ...caches.kube,
      create: (kind, object, how) => note(object.metadata.name, () => caches.kube.create(kind, object, how)),
      patch: (kind, ref, patch, how) => note(ref.name, () => caches.kube.patch(kind, ref, patch, how)),
    }
    return { kube, written, quiet: () => Promise.allSettled(flying) }
  }

  const store = (kube: Kube, more: Partial<Parameters<typeof inventoryInConfigMaps>[0]> = {}) =>
    inventoryInConfigMaps({ cache, kube, ref: { name: 'shop.inventory', namespace }, manager: 'test', ...more })
  const fresh = (more = {}) => store(caches.kube, more)
  const config = (name: string) => cluster.kube.get(ConfigMaps, { name, namespace })
  const edit = async (name: string, data: Record<string, string | null>) => {
    const now = await cluster.kube.patch(ConfigMaps, { name, namespace }, { data })
    await eventually(() => cache.get({ name, namespace })?.metadata.resourceVersion === now.metadata.resourceVersion)
  }
  const complaint = async (work: Promise<unknown>): Promise<Failure> => {
    const failure = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (isFailure(failure)) return failure
    throw new assert.Assertion({
      message: 'it did not fail',
      details: '',
      generated: false,
      operator: '',
      expects: '',
      actual: '',
    })
  }

  it('gives back what it was given, whatever the names are', async () => {
    const names = ['a:b_c.d', 'x'.repeat(253), 'system:node proxier', '100%', 'a/b', 'ümläut', 'line\nbreak']
    const held = names.map((name, n) => one(name, n % 2 ? undefined : { group: 'rbac.example.com', kind: 'Role', name }))
    const id = { group: '', kind: 'Namespace', name: 'bare' }
    const bare: Held = { id, key: keyOfId(id), version: 'v1' }
    assert.equal(
      [...held, bare].map((item) => heldOf(lineFor(item))),
      [...held, bare],
    )
    await fresh().save(of(...held, bare))
    assert.equal(byName((await fresh().load()) ?? of()), byName(of(...held, bare)))
  })

  it('writes nothing when nothing changed', async () => {
    const { kube, written } = writing()
    const held = many(20)
    const inventory = store(kube)
    await inventory.save(of(...held))
    await inventory.save(of(...held.toReversed()))
    const later = store(kube)
    await later.load()
    await later.save(of(...held))
    assert.equal(written, ['shop.inventory'])
  })

  it('holds 50,000 objects in ConfigMaps far from their limit, and writes one of them for one object', async () => {
    const { kube, written } = writing()
    const held = many(50_000)
    const inventory = store(kube)
    await inventory.save(of(...held))
    const maps = await cluster.kube.list(ConfigMaps, { namespace, labels: INVENTORY_LABEL })
    const sizes = maps.map(({ data }) => JSON.stringify(data).length)
    assert.ok(maps.length > 8 && Math.max(...sizes) < 450_000, `${sizes}`)
    const loaded = await inventory.load()
    assert.equal(byName(loaded ?? of()), byName(of(...held)))

    written.length = 0
    const changed = held.map((item, n) => (n === 777 ? { ...item, hash: 'another' } : item))
    await inventory.save(of(...changed))
    assert.is(written.length, 1)
    assert.equal(byName((await fresh().load()) ?? of()), byName(of(...changed)))
  })

  it('loses nothing when it dies while its ConfigMaps are being divided', async () => {
    const small = { shardBytes: 2000 }
    const before = many(10)
    const secrets = many(200).map(({ id }) => one(id.name, { ...id, kind: 'Secret' }))
    const after = [...before, ...secrets]
    const whole = writing()
    await store(whole.kube, { ...small, ref: { name: 'whole', namespace } }).save(of(...after))
    assert.ok(whole.written.length > 8, `${whole.written}`)
    for (let writes = 0; writes <= whole.written.length; writes++) {
      const at = { ...small, ref: { name: `death-${writes}`, namespace } }
      await fresh(at).save(of(...before))
      const life = writing(writes)
      const dying = store(life.kube, at)
      await dying.load()
      await dying.save(of(...after)).catch(() => undefined)
      await life.quiet()
      const seen = byName((await fresh(at).load()) ?? of())
      const names = seen.map(({ id }) => `${id.kind}/${id.name}`)
      assert.is(new Set(names).size, names.length, `twice after ${writes} writes`)
      for (const { id } of before) assert.ok(names.includes(`${id.kind}/${id.name}`), `${id.name} after ${writes} writes`)
      const heir = fresh(at)
      await heir.load()
      await heir.save(of(...after))
      assert.equal(byName((await fresh(at).load()) ?? of()).length, after.length)
    }
  })

  it('reads the format that was written before, and writes its own', async () => {
    const held = many(3)
    const data = { format: '1', server: SERVER, objects: held.map((item) => JSON.stringify(item)).join('\n') }
    const metadata = { name: 'shop.inventory', namespace, labels: { [INVENTORY_LABEL]: 'true' } }
    await caches.kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
    const inventory = fresh()
    assert.equal(byName((await inventory.load()) ?? of()), byName(of(...held)))
    await inventory.save(of(...held))
    assert.is((await config('shop.inventory'))?.data?.format, '2')
    assert.equal(byName((await fresh().load()) ?? of()), byName(of(...held)))
  })

  it('names the ConfigMap, the line and the remedy when it is damaged', async () => {
    await fresh().save(of(one('a'), one('b')))
    const cases: [Record<string, string | null>, RegExp, string][] = [
      [
        { objects: `${lineFor(one('a'))}\nnot an object` },
        /shop\.inventory.*line 2 .*: not an object/,
        'a line of something else',
      ],
      [{ objects: lineFor(one('a')).slice(0, 30) }, /line 1/, 'a line cut off'],
      [{ objects: '/ConfigMap/x/%E0%A4%A/v1//' }, /line 1/, 'an escape that is none'],
      [{ format: '7' }, /unknown format "7"/, 'a format of the future'],
      [{ format: null }, /unknown format ""/, 'an emptied ConfigMap'],
      [{ format: '1', objects: '{"id":' }, /line 1/, 'the former format, cut off'],
      [{ format: '2', shards: 'x', objects: '' }, /"x" where the number/, 'a count that is none'],
      [{ format: '2', shards: '2' }, /shop\.inventory-1 is missing/, 'a shard that is missing'],
    ]
    for (const [data, says, why] of cases) {
      await edit('shop.inventory', data)
      const failure = await complaint(fresh().load())
      assert.equal([failure.code, failure.reason], ['invalid', 'InventoryDamaged'], why)
      assert.match(failure.message, says, why)
      assert.match(failure.remedy ?? '', /Restore it from a backup/, why)
    }
  })

  it('knows that its first ConfigMap is missing while there are others', async () => {
    await fresh({ shardBytes: 500 }).save(of(...many(20)))
    await cluster.kube.delete(ConfigMaps, { name: 'shop.inventory', namespace })
    await eventually(() => !cache.get({ name: 'shop.inventory', namespace }))
    assert.match((await complaint(fresh().load())).message, /shop\.inventory is missing/)
  })

  it('does not overwrite what somebody else saved since it was loaded', async () => {
    await fresh().save(of(one('a')))
    const [first, second] = [fresh(), fresh()]
    await first.load()
    await second.load()
    await second.save(of(one('b')))
    assert.is((await complaint(first.save(of(one('c'))))).code, 'conflict')
    const late = fresh({ ref: { name: 'other', namespace } })
    await late.load()
    await fresh({ ref: { name: 'other', namespace } }).save(of(one('b')))
    assert.is((await complaint(late.save(of(one('c'))))).code, 'already-exists')
  })

  it('takes nothing for its own that another of the same name left', async () => {
    const ownerCalled = async (name: string) => {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }
      return { owner: await cluster.kube.create(ConfigMaps, owner), shardBytes: 500 }
    }
    await fresh(await ownerCalled('former')).save(of(...many(20)))
    const mine = await ownerCalled('present')
    const heir = fresh(mine)
    assert.is(await heir.load(), undefined)
    const held = many(20)
    await heir.save(of(...held))
    assert.equal(byName((await fresh(mine).load()) ?? of()), byName(of(...held)))
    const uids = (await cluster.kube.list(ConfigMaps, { namespace, labels: INVENTORY_LABEL })).map(
      ({ metadata }) => metadata.ownerReferences?.[0]?.uid,
    )
    assert.equal([...new Set(uids)], [mine.owner.metadata.uid])
  })

  it('falls back on what else is known when it was deleted', async () => {
    const known = of(one('a'))
    assert.equal(await fresh({ lost: () => known }).load(), known)
  })
})
