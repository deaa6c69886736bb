import { equal, is, match, ok } from 'uvu/assert'
import { createMemory, roomOfNamespaces, roomOfTenant, weightOf } from '../../../src/adapters/kube/memory.ts'
import { Store } from '../../../src/adapters/kube/store.ts'
import { trimmedSecret } from '../../../src/adapters/kube/trimmed.ts'
import { type CoreSecret, CREDENTIALS_NAMESPACE, type KubeObject } from '../../../src/api/index.ts'
import { failureOf } from '../../support/refusal.ts'
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

/** Of these eight are in, and the ninth is one too many: three quarters of the memory are for new objects. */
const LARGE = 9500
const EACH = 110_000
const ref = (name: string, namespace = 'n') => ({ name, namespace })

describe('what a cache keeps of a Secret', (it) => {
  it('is the metadata of one that is too large, and why', () => {
    const { data, leftOut = '', metadata } = trimmedSecret(secretOf('a', 2, 140_000))
    is(data, undefined)
    match(leftOut, /it has 140\d\d\d bytes, and a Secret of more than 131072 is not read/)
    is(metadata.resourceVersion, '2')
    is(metadata.labels?.of, 'test')
    is(metadata.annotations, undefined)
    ok(trimmedSecret(secretOf('a', 3, 130_000)).data)
  })

  it('is not even the labels where these are large', () => {
    const large = secretOf('a', 1, 140_000)
    const trimmed = trimmedSecret({ ...large, metadata: { ...large.metadata, labels: { long: 'x'.repeat(5000) } } })
    is(trimmed.metadata.labels, undefined)
  })
})

describe('what a store keeps of a namespace', (it) => {
  const opened = ({ all = 10 * EACH, each = EACH, isListed = true } = {}) => {
    const memory = createMemory({ all, each })
    const heard: string[] = []
    const short = new Set<string>()
    const store = new Store<CoreSecret>({
      room: roomOfNamespaces(memory),
      leftOut({ metadata: { namespace = '', name } }) {
        heard.push(`${namespace}/${name} left out`)
        short.add(namespace)
      },
      whole(namespace) {
        heard.push(`${namespace} whole`)
        short.delete(namespace)
      },
    })
    if (isListed) store.saw('1')
    return { memory, store, heard, isWhole: (namespace: string) => !short.has(namespace) }
  }
  const fill = (store: Store<CoreSecret>, count: number, namespace = 'n') => {
    for (let at = 0; at < count; at++) store.put(secretOf(`s-${at}`, at + 1, LARGE, namespace))
  }

  it('ends where its objects have too many bytes, and goes on for every other namespace', () => {
    const { store, heard, isWhole } = opened()
    fill(store, 20)
    is(store.size, 8)
    ok(!isWhole('n'))
    fill(store, 5, 'm')
    is(store.in('m').length, 5)
    ok(isWhole('m'))
    is(heard.join(), 'n/s-8 left out')
  })

  it('ends nowhere where tenants can write nothing', () => {
    const { store } = opened()
    fill(store, 20, CREDENTIALS_NAMESPACE)
    is(store.size, 20)
  })

  it('lets what is there grow into what new ones do not get, and then keeps nothing that is not so any more', () => {
    const { store, isWhole } = opened()
    fill(store, 8)
    store.put(secretOf('s-0', 100, LARGE + 20_000))
    ok(isWhole('n'))
    store.put(secretOf('s-1', 101, LARGE + 20_000))
    ok(!isWhole('n'))
    is(store.get(ref('s-1')), undefined)
    store.put(secretOf('s-1', 102, 2 * LARGE + 20_000))
    is(store.get(ref('s-1')), undefined)
    store.put(secretOf('s-1', 103, LARGE))
    is(store.get(ref('s-1'))?.metadata.resourceVersion, '103')
    ok(isWhole('n'))
  })

  it('is whole again when what had no room is gone, or a list brings it after others went', () => {
    const { store, heard, isWhole } = opened()
    fill(store, 9)
    store.remove(secretOf('s-8', 200, LARGE))
    ok(isWhole('n'))
    store.put(secretOf('s-8', 201, LARGE))
    ok(!store.isDue())
    store.remove(secretOf('s-0', 202, LARGE))
    ok(store.isDue())
    const listing = store.list()
    listing.page(Array.from({ length: 8 }, (_, at) => secretOf(`s-${at + 1}`, at === 7 ? 201 : at + 2, LARGE)))
    listing.end('203')
    ok(isWhole('n'))
    ok(store.get(ref('s-8')))
    is(heard.join(), 'n/s-8 left out,n whole,n/s-8 left out,n whole')
  })

  it('takes what a list brings once, whether that comes to an end or not', () => {
    const { memory, store, isWhole } = opened()
    const page = (version: number) => Array.from({ length: 8 }, (_, at) => secretOf(`s-${at}`, version + at, LARGE))
    for (let round = 1; round < 10; round++) {
      const listing = store.list()
      listing.page(page(round * 1000))
      if (round % 2) listing.end(String(round * 1000 + 100))
      else listing.drop()
      ok(isWhole('n'), `round ${round}`)
    }
    is(store.get(ref('s-7'))?.metadata.resourceVersion, '9007')
    store.release()
    ok(memory.take('n', 0.75 * EACH, true), 'everything was given back')
  })

  it('keeps in a list what has no room out of it, and what that was before it', () => {
    const { store, isWhole } = opened()
    fill(store, 8)
    const listing = store.list()
    listing.page([secretOf('s-0', 100, LARGE + 40_000), secretOf('new', 101, LARGE)])
    listing.end('102')
    is(store.get(ref('s-0')), undefined)
    equal(
      [...store.all()].map(({ metadata }) => metadata.name),
      ['new'],
    )
    ok(!isWhole('n'))
  })

  it('is no more than what is left for the others, who always get some', () => {
    const { memory, store, isWhole } = opened({ all: 2 * EACH })
    const many = Array.from({ length: 20 }, (_, at) => `many-${at}`)
    for (const namespace of many) fill(store, 8, namespace)
    ok(isWhole('many-0'))
    ok(!isWhole('many-1'))
    store.put(secretOf('little', 1, 10, 'last'))
    ok(isWhole('last'))
    store.release()
    ok(memory.take('n', 0.75 * EACH, true), 'nothing was taken beyond all')
  })

  it('is all that was there before, when it begins with a list', () => {
    const { store, isWhole } = opened({ isListed: false })
    const listing = store.list()
    listing.page(Array.from({ length: 10 }, (_, at) => secretOf(`s-${at}`, at + 1, LARGE)))
    listing.end('50')
    is(store.size, 10)
    ok(isWhole('n'))
    store.put(secretOf('new', 51, 10))
    ok(!isWhole('n'))
  })

  it('is told whole only when the last of it is there, and stays short of what no longer fits', () => {
    const { store, heard, isWhole } = opened()
    fill(store, 9)
    store.remove(secretOf('s-0', 100, LARGE))
    equal(heard, ['n/s-8 left out'])
    store.onChange((now) => now?.metadata.name === 's-8' && heard.push('n/s-8 is there'))
    store.put(secretOf('s-8', 101, LARGE))
    equal(heard.slice(1), ['n/s-8 is there', 'n whole'])
    store.put(secretOf('s-8', 103, EACH))
    store.remember(secretOf('s-8', 102, LARGE))
    ok(!isWhole('n'), 'what was written before is not what is there')
  })

  it('notes no more than a thousand of what has no room, and knows that there is more', () => {
    const { store, isWhole } = opened()
    fill(store, 8)
    for (let at = 0; at < 1500; at++) store.put(secretOf(`more-${at}`, 1000 + at, LARGE))
    for (let at = 0; at < 1000; at++) store.remove(secretOf(`more-${at}`, 5000 + at, LARGE))
    ok(!isWhole('n'))
    ok(store.isDue())
    const listing = store.list()
    listing.page(Array.from({ length: 8 }, (_, at) => secretOf(`s-${at}`, at + 1, LARGE)))
    listing.end('9000')
    ok(isWhole('n'))
  })

  it('counts for who has the spaces that it is in, together with all of theirs', () => {
    const { memory, store, isWhole } = opened({ all: 12 * EACH })
    store.put(secretOf('s-0', 1, LARGE, 'space-0'))
    for (let at = 0; at < 20; at++) memory.chargeTo(`space-${at}`, at === 0 ? 'evil' : `space-${at - 1}`)
    is(memory.payerOf('space-19'), 'evil')
    memory.chargeTo('evil', 'space-3')
    is(memory.payerOf('space-19'), 'evil', 'nothing is charged in a circle')
    for (let at = 1; at < 20; at++) store.put(secretOf(`s-${at}`, at + 1, LARGE, `space-${at}`))
    is(store.size, 8)
    ok(isWhole('space-7'))
    ok(!isWhole('space-8'))
    // Others have what they had.
    for (let at = 0; at < 8; at++) store.put(secretOf(`s-${at}`, 100 + at, LARGE, 'team-a'))
    is(store.size, 16)
    ok(!store.isDue())
    memory.chargeTo('space-5', undefined)
    is(memory.payerOf('space-4'), 'evil')
    is(memory.payerOf('space-19'), 'space-5')
    ok(store.isDue())
    store.release()
    for (const owner of ['evil', 'space-5', 'team-a']) ok(memory.has(owner, EACH / 2, true), owner)
  })

  it('is, of a stranger, refused as a whole for the tenant who has too much', async () => {
    const memory = createMemory({ all: 10 * EACH, each: EACH })
    const [mine, mineToo, others] = ['team-a', 'team-a', 'team-b'].map(
      (tenant) => new Store<KubeObject>({ room: roomOfTenant(memory, tenant) }),
    )
    for (let at = 0; at < 4; at++) for (const store of [mine, mineToo]) store?.put(secretOf(`s-${at}`, at + 1, LARGE, `n-${at}`))
    const failure = await failureOf(async () => mine?.put(secretOf('s-5', 6, LARGE)))
    is(failure.code, 'too-large')
    match(failure.message, /^the target has more objects than are kept in memory/)
    others?.put(secretOf('s-5', 6, LARGE))
    mineToo?.release()
    mine?.put(secretOf('s-5', 6, LARGE))
    is(mine?.size, 5)
  })
})

describe('the weight of an object', (it) => {
  it('is about what it takes on the heap, also where JSON is short for much', () => {
    ok(weightOf(secretOf('a', 1, 10_000)) < 11_000)
    ok(weightOf(Array.from({ length: 1000 }, () => ({}))) >= 40_000)
    is(weightOf(undefined), 0)
  })
})
