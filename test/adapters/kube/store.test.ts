import * as assert from 'uvu/assert'
import { isNewer } from '../../../src/adapters/kube/resource-version.ts'
import { Store } from '../../../src/adapters/kube/store.ts'
import { indexBy, type KubeObject, keyOf, refOf } from '../../../src/api/index.ts'
import { describe } from '../../support/suite.ts'

const object = (name: string, version: number, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', resourceVersion: String(version), labels },
})
const ref = { name: 'a', namespace: 'n' }

describe('the store behind a watch', (it) => {
  it('never goes back to an older version', () => {
    const store = new Store()
    store.put(object('a', 5))
    store.remember(object('a', 9))
    store.put(object('a', 7))
    assert.is(store.get(ref)?.metadata.resourceVersion, '9')
  })

  it('shows an own write before the watch does, and tells of it once', () => {
    const store = new Store()
    let told = 0
    store.onChange(() => told++)
    store.remember(object('a', 9))
    store.put(object('a', 9))
    assert.is(told, 1)
  })

  it('tells who listens to one object of that one, and who listens to a value of an index of all that have it or had it', () => {
    const store = new Store()
    const byColor = indexBy(({ metadata }: KubeObject) => (metadata.labels?.color ? [metadata.labels.color] : []))
    const told: string[] = []
    const forget = store.onChangeOf(ref, (now) => told.push(`a ${now?.metadata.resourceVersion ?? 'gone'}`))
    store.onChangeBy(byColor, 'red', (now) => told.push(`red ${now?.metadata.name ?? 'gone'}`))
    store.put(object('a', 1))
    store.put(object('b', 2, { color: 'red' }))
    store.put(object('b', 3, { color: 'blue' }))
    store.put(object('b', 4, { color: 'green' }))
    store.remove(object('a', 5))
    forget()
    store.put(object('a', 6, { color: 'red' }))
    assert.equal(told, ['a 1', 'red b', 'red b', 'a gone', 'red a'])
  })

  it('keeps the indexes of two rooms apart, and fills one with what is there when somebody first asks by it', () => {
    const store = new Store()
    const one = indexBy(({ metadata }: KubeObject) => [metadata.name])
    const other = indexBy(({ metadata }: KubeObject) => [metadata.labels?.claim ?? ''])
    store.put(object('a', 1, { claim: 'b' }))
    assert.equal(store.by(one, 'a').map(refOf), [ref])
    assert.equal(store.by(one, 'b'), [])
    store.put(object('c', 2, { claim: 'b' }))
    assert.equal([store.by(one, 'c').length, store.by(other, 'b').length, store.by(other, 'a').length], [1, 2, 0])
  })

  it('does not bring back what was deleted while the answer to a write travelled', () => {
    const store = new Store()
    store.put(object('a', 5))
    store.remove(object('a', 8))
    store.remember(object('a', 7))
    assert.is(store.get(ref), undefined)
  })

  it('keeps namespaces apart that are watched one by one', () => {
    const store = new Store()
    const ending = new AbortController()
    const [one, other] = [store.part('n', new AbortController().signal), store.part('m', ending.signal)]
    const elsewhere = (name: string, version: number) => ({
      ...object(name, version),
      metadata: { ...object(name, version).metadata, namespace: 'm' },
    })
    one.put(object('a', 5))
    other.put(elsewhere('a', 20))
    // What the other has seen says nothing about an own write here.
    store.remember(object('b', 9))
    const listing = one.list()
    listing.page([object('b', 9)])
    listing.end('10')
    assert.equal([...store.all()].map(refOf), [
      { name: 'a', namespace: 'm' },
      { name: 'b', namespace: 'n' },
    ])
    const late = other.list()
    late.page([elsewhere('c', 21)])
    ending.abort()
    late.end('22')
    other.put(elsewhere('d', 23))
    assert.equal(store.in('m'), [])
    assert.equal(store.in('n').length, 1)
  })

  it('reports what a fresh list no longer has as deleted, but keeps younger own writes', () => {
    const store = new Store()
    store.put(object('a', 5))
    store.put(object('b', 6))
    store.remember(object('c', 20))
    const gone: string[] = []
    store.onChange((now, before) => {
      if (!now && before) gone.push(before.metadata.name)
    })
    store.replace([object('b', 6)], '10')
    assert.equal(gone, ['a'])
    assert.equal([...store.all()].map(({ metadata }) => metadata.name).sort(), ['b', 'c'])
  })

  it('compares versions as numbers of any length', () => {
    assert.ok(isNewer('10', '9'))
    assert.ok(isNewer('18446744073709551616', '9999999999999999999'))
    assert.not.ok(isNewer('9', '9'))
  })

  it('keeps its indexes equal to a scan, whatever happens', () => {
    const store = new Store()
    const byTeam = indexBy((one: KubeObject) => [one.metadata.labels?.team ?? ''])
    assert.equal(store.by(byTeam, 't0'), [])
    let seed = 42
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed % below
    }
    for (let version = 1; version < 3000; version++) {
      const one = object(`o${random(40)}`, version, { team: `t${random(5)}` })
      const act = random(10)
      if (act < 6) store.put(one)
      else if (act < 8) store.remove(one)
      else if (act < 9) store.remember(one)
      else
        store.replace(
          [...store.all()].filter(() => random(4) > 0),
          String(version),
        )
    }
    for (let team = 0; team < 5; team++) {
      const scan = [...store.all()].filter((one) => byTeam.of(one)[0] === `t${team}`)
      const names = (list: KubeObject[]) => list.map((one) => keyOf(refOf(one))).sort()
      assert.equal(names(store.by(byTeam, `t${team}`)), names(scan))
    }
  })
})
