import { is, match, ok } from 'uvu/assert'
import { secretRation } from '../../../src/adapters/kube/ration.ts'
import { Store } from '../../../src/adapters/kube/store.ts'
import type { CoreSecret } from '../../../src/api/index.ts'
import { describe } from '../../support/suite.ts'

const secretOf = (name: string, version: number, bytes: number, namespace = 'n'): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    ...{ name, namespace, resourceVersion: String(version), labels: { of: 'test' } },
    annotations: { long: 'x'.repeat(100) },
  },
  data: { kubeconfig: 'a'.repeat(bytes) },
})

const LARGEST = 130_000
/** So many of these are more than a namespace gets. */
const MANY = 260

describe('what a cache keeps of Secrets', (it) => {
  const ref = { name: 'a', namespace: 'n' }
  const isWhole = (store: Store<CoreSecret>, name: string, namespace = 'n') =>
    store.get({ name, namespace })?.data?.kubeconfig !== undefined
  const filled = () => {
    const store = new Store<CoreSecret>(secretRation())
    for (let at = 0; at < MANY; at++) store.put(secretOf(`s-${at}`, at + 1, LARGEST))
    return store
  }

  it('is the metadata of one that is too large, and why', () => {
    const store = new Store<CoreSecret>(secretRation())
    store.put(secretOf('a', 1, LARGEST))
    ok(isWhole(store, 'a'))
    store.put(secretOf('a', 2, 140_000))
    const { data, leftOut = '', metadata } = store.get(ref) ?? secretOf('none', 0, 0)
    is(data, undefined)
    match(leftOut, /it has 140\d\d\d bytes, and a Secret of more than 131072 is not read/)
    is(metadata.resourceVersion, '2')
    is(metadata.labels?.of, 'test')
    is(metadata.annotations, undefined)
    store.put(secretOf('a', 3, 100))
    ok(isWhole(store, 'a'))
  })

  it('is not even the labels where these are large', () => {
    const store = new Store<CoreSecret>(secretRation())
    const large = secretOf('a', 1, 140_000)
    store.put({ ...large, metadata: { ...large.metadata, labels: { long: 'x'.repeat(5000) } } })
    is(store.get(ref)?.metadata.labels, undefined)
  })

  it('ends for a namespace where the sum is too large, and for no other', () => {
    const store = filled()
    ok(isWhole(store, 's-200'))
    ok(!isWhole(store, `s-${MANY - 1}`))
    match(store.get({ name: `s-${MANY - 1}`, namespace: 'n' })?.leftOut ?? '', /have 33554432 bytes, and no more are read/)
    store.put(secretOf('other', 1, LARGEST, 'm'))
    ok(isWhole(store, 'other', 'm'))
  })

  it('has room again for what is written after others went', () => {
    const store = filled()
    for (let at = 0; at < 10; at++) store.remove(secretOf(`s-${at}`, 1000 + at, LARGEST))
    store.put(secretOf(`s-${MANY - 1}`, 2000, LARGEST))
    ok(isWhole(store, `s-${MANY - 1}`))
  })

  it('is the same in a list, which takes the place of what was there', () => {
    const store = filled()
    for (let round = 1; round < 4; round++) {
      const listing = store.list()
      for (let at = 0; at < MANY; at += 20)
        listing.page(Array.from({ length: 20 }, (_, more) => secretOf(`l-${at + more}`, round * 1000 + at + more, LARGEST)))
      listing.end(String(round * 1000 + 999))
      ok(isWhole(store, 'l-200'), `round ${round}`)
      ok(!isWhole(store, `l-${MANY - 1}`), `round ${round}`)
    }
    is(store.size, MANY)
  })

  it('takes nothing twice from a list that came to no end', () => {
    const store = new Store<CoreSecret>(secretRation())
    for (let round = 0; round < 10; round++)
      store.list().page(Array.from({ length: 50 }, (_, at) => secretOf(`s-${at}`, at + 1, LARGEST)))
    store.put(secretOf('a', 1000, LARGEST))
    ok(isWhole(store, 'a'))
  })
})
