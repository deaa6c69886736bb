import { equal, is, ok } from 'uvu/assert'
import { connectTo } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, ConfigMaps } from '../../../src/api/index.ts'
import { keyOfId } from '../../../src/engines/apply/object-id.ts'
import type { Held } from '../../../src/engines/gitops/inventory/inventory.ts'
import { OWNER_LABEL } from '../../../src/engines/gitops/objects/place.ts'
import { createWatchedStates } from '../../../src/engines/gitops/watch/watched-states.ts'
import type { ObjectScope, Subscriber, Watches } from '../../../src/engines/gitops/watch/watches.ts'
import { UNJUDGED } from '../../../src/engines/health/rules.ts'
import { type Clock, createBuckets, Failure, type Rate, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const held = (name: string): Held => {
  const id = { group: '', kind: 'ConfigMap', namespace: 'a', name }
  return { id, key: keyOfId(id), version: 'v1' }
}
const configMap = (name: string): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a', uid: name, resourceVersion: '5', labels: { [OWNER_LABEL]: 'me' } },
})

const PLENTY: Rate = { burst: 1000, perSecond: 1000 }

interface Pacing {
  clock?: Clock
  rate?: Rate
  ring?: () => void
}

describe('the states of objects that are told page by page', (it) => {
  /** The states of these, and the way to tell them what a watch would. */
  const open = async (...names: string[]) => openWith({}, ...names)
  const openWith = async ({ clock = systemClock, rate = PLENTY, ring = () => undefined }: Pacing, ...names: string[]) => {
    const own = connectTo({ server: 'https://localhost:1', clock: systemClock })
    const kube = { ...own, resolve: () => Promise.resolve(ConfigMaps) }
    let subscription: { subscriber: Subscriber; scope: ObjectScope } | undefined
    const watches: Watches = {
      subscribe(at, by) {
        subscription = { subscriber: by, scope: at }
        return { scope: at, status: 'watching', openNow: () => undefined, unsubscribe: () => undefined }
      },
      subscribeIfOpen: () => undefined,
      beginWrite: () => () => undefined,
      count: 0,
      close: () => undefined,
    }
    const states = createWatchedStates({ watches, clock, owner: 'me', tenant: 'team', looks: createBuckets(rate, clock), ring })
    const follow = (...these: string[]) =>
      states.follow({ kube, rules: { now: systemClock.now }, desired: [], held: these.map(held) })
    await follow(...names)
    if (!subscription) throw new Failure('internal', 'it has no subscription')
    const { subscriber, scope } = subscription
    const presences = () =>
      Object.fromEntries([...states.current].map(([key, { presence }]) => [key.split('/').at(-1), presence]))
    return { states, follow, presences, listing: subscriber.list(scope), subscriber }
  }

  it('takes for gone what was on none of them', async () => {
    const { states, listing, presences } = await open('first', 'second', 'gone')
    listing.page([configMap('first'), configMap('strange')])
    listing.page([configMap('second')])
    is(states.isListing, true)
    listing.end('9')
    equal(presences(), { first: 'present', second: 'present', gone: 'absent' })
    is(states.isListing, false)
  })

  it('has asked for what it came to follow when its page had passed', async () => {
    const { states, follow, listing, presences } = await open('first')
    listing.page([configMap('first'), configMap('late')])
    await follow('first', 'late', 'later')
    listing.page([configMap('later')])
    listing.end('9')
    equal(presences(), { first: 'present', later: 'present' })
    equal(states.unwatched(['first', 'late', 'later'].map(held)), [held('late')])
    is(states.isListing, false)
    states.read(new Map([[held('late').key, { presence: 'absent', version: '' }]]))
    equal(states.unwatched(['first', 'late', 'later'].map(held)), [])
  })

  it('has asked for what it came to hold beside a watch that had told all there is', async () => {
    const { states, follow, listing } = await open('first')
    listing.page([configMap('first')])
    listing.end('9')
    await follow('first', 'refused')
    equal([states.isListing, states.unwatched(['first', 'refused'].map(held))], [false, [held('refused')]])
  })

  it('keeps what it heard meanwhile', async () => {
    const { listing, presences, subscriber } = await open('first', 'deleted')
    listing.page([configMap('first')])
    const before = configMap('deleted')
    subscriber.changed({ ...before, metadata: { ...before.metadata, resourceVersion: '11' } })
    listing.end('9')
    equal(presences(), { first: 'present', deleted: 'present' })
  })

  it('has all of them gone through only so often, though one changes all the time', async () => {
    const clock = steppedClock()
    let rings = 0
    const pacing = { clock, rate: { burst: 156, perSecond: 2 }, ring: () => rings++ }
    const { follow, subscriber } = await openWith(pacing, 'first', 'second')
    const change = (version: number) => {
      const seen = configMap('first')
      subscriber.changed({ ...seen, metadata: { ...seen.metadata, uid: `${version}`, resourceVersion: `${version}` } })
    }
    for (let version = 1; version <= 2; version++) {
      change(version)
      await follow('first', 'second')
    }
    is(rings, 2)
    for (let version = 3; version <= 9; version++) change(version)
    is(rings, 2)
    await clock.step(499)
    is(rings, 2)
    await clock.step(1)
    is(rings, 3)
  })

  it('has read again what no rule had time for', async () => {
    const { states, follow, listing } = await open('first')
    await follow('first')
    listing.page([configMap('first')])
    listing.end('9')
    const state = states.current.get(held('first').key)
    ok(state?.presence === 'present')
    equal(states.unwatched([held('first')]), [])
    states.read(new Map([[held('first').key, { ...state, health: UNJUDGED }]]))
    equal(states.unwatched([held('first')]), [held('first')])
  })
})
