import { type Kube, keepFed, type Listing, type Sink } from '../../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type Kind } from '../../../api/index.ts'
import { type Clock, createTally, type Failure, isFailure, type Log, seconds } from '../../../std/index.ts'
import { OWNER_LABEL } from '../objects/place.ts'
import { createOpeningQueue } from './opening-queue.ts'

/** One kind in one namespace or in the whole cluster, watched as one identity. */
export interface ObjectScope {
  kube: Kube
  kind: Kind<AnyObject>
  namespace: string | undefined
}

/** A subscriber is told what happens in a scope. Several syncs may share one watch. */
export interface Subscriber {
  /** On whose behalf: a watch counts as its who had it opened. */
  readonly tenant: string
  changed(object: AnyObject): void
  /** The object is gone, or no sync's label is on it any more. */
  removed(object: AnyObject): void
  /** All that is there is told from now on, page by page; what was there before and is not among it is gone. */
  list(scope: ObjectScope): Listing<AnyObject>
  /** From now on nothing is told of this scope. */
  ended(why: Failure | undefined): void
}

export interface Subscription {
  readonly scope: ObjectScope
  /** unavailable: the tenant may not watch there, or the cap is reached. */
  readonly status: 'queued' | 'watching' | 'unavailable'
  /** Somebody waits for what it tells, so it does not wait for its turn. */
  openNow(): void
  unsubscribe(): void
}

export interface Watches {
  /** The first subscription to a scope opens the watch. `from`: the version of which the subscriber knows everything there. */
  subscribe(scope: ObjectScope, subscriber: Subscriber, from: string | undefined): Subscription
  /** For a sync that has nothing there yet, but soon may: only if the watch is open. */
  subscribeIfOpen(scope: ObjectScope, subscriber: Subscriber): Subscription | undefined
  /** Until the function that it returns is called, something is being written, and watches that only wait for drift are not opened. */
  beginWrite(): () => void
  readonly count: number
  close(): void
}

interface WatchesOptions {
  clock: Clock
  log: Log
  /** Watches that are open at once; beyond it, objects are read each interval. */
  most: number
}

interface Watched {
  scope: ObjectScope
  tenant: string
  subscribers: Set<Subscriber>
  status: Subscription['status']
  /** Where all subscribers know everything up to some version, the watch begins there; else with a list. */
  from: string | undefined
  /** Somebody came late and must be told everything: the watch begins anew with a list. */
  isDue: boolean
  ending: AbortController
}

/**
 * A tenant may have so many times as many watches as are free: one alone has four fifths of all, two have four ninths each, and there is
 * always room for one more tenant. (Choudhury and Hahne, Dynamic Queue Length Thresholds, 1998.)
 */
const TIMES_THE_FREE = 4

/** Others may come late as well: they share the list. */
const LATE = seconds(1)

export function createWatches({ clock, log, most }: WatchesOptions): Watches {
  const watched = new Map<string, Watched>()
  const shares = createTally()
  const keyOf = createScopeKeys()
  const queue = createOpeningQueue<Watched>(clock, (entry) => open(entry))
  let isClosed = false

  const end = (entry: Watched, why?: Failure) => {
    entry.ending.abort()
    entry.status = 'unavailable'
    const key = keyOf(entry.scope)
    if (watched.get(key) === entry) {
      watched.delete(key)
      shares.add(entry.tenant, -1)
    }
    for (const subscriber of entry.subscribers) subscriber.ended(why)
  }
  const open = (entry: Watched): Promise<void> => {
    if (!entry.isDue || entry.status === 'unavailable') return Promise.resolve()
    entry.ending.abort()
    Object.assign(entry, { status: 'watching', isDue: false, ending: new AbortController() })
    const first = Promise.withResolvers<void>()
    const { from, ending } = entry
    const { kube, kind, namespace } = entry.scope
    const failed = (failure: Failure) => {
      first.resolve()
      // The tenant may not watch there, or the kind is gone: to ask again and again would not help.
      if (isFailure(failure, 'forbidden', 'unauthorized', 'not-found')) end(entry, failure)
    }
    const feed = { kube, kind, scope: { namespace, labels: OWNER_LABEL }, store: sinkOf(entry), keep, from, shared: true }
    void keepFed({ ...feed, clock, log, listed: first.resolve, failed }, ending.signal).finally(first.resolve)
    return from === undefined ? first.promise : Promise.resolve()
  }

  const isRoomFor = (tenant: string) => shares.of(tenant) < TIMES_THE_FREE * (most - shares.sum)
  const begin = (scope: ObjectScope, tenant: string, from: string | undefined): Watched => {
    const entry = newlyQueued(scope, tenant, from)
    watched.set(keyOf(scope), entry)
    shares.add(tenant, 1)
    queue.add(entry)
    return entry
  }
  const subscribe = (entry: Watched, subscriber: Subscriber): Subscription => {
    entry.subscribers.add(subscriber)
    return subscriptionTo(entry, subscriber, { openNow: () => void open(entry), end: () => end(entry) })
  }

  return {
    subscribe(scope, subscriber, from) {
      const known = watched.get(keyOf(scope))
      if (!known)
        return isClosed || !isRoomFor(subscriber.tenant)
          ? unavailable(scope)
          : subscribe(begin(scope, subscriber.tenant, from), subscriber)
      if (known.isDue) known.from = earlier(known.from, from)
      else if (from === undefined) {
        Object.assign(known, { from, isDue: true })
        queue.add(known, LATE)
      }
      return subscribe(known, subscriber)
    },
    subscribeIfOpen(scope, subscriber) {
      const known = watched.get(keyOf(scope))
      return known && subscribe(known, subscriber)
    },
    beginWrite: queue.beginWrite,
    get count() {
      return watched.size
    },
    close() {
      isClosed = true
      queue.close()
      for (const entry of [...watched.values()]) end(entry)
    },
  }
}

/** Two clients of one server are two identities, and each may watch other objects. */
function createScopeKeys(): (scope: ObjectScope) => string {
  const names = new WeakMap<Kube, number>()
  let identities = 0
  return ({ kube, kind, namespace = '' }) => {
    const name = names.get(kube) ?? ++identities
    names.set(kube, name)
    return `${name} ${apiVersionOf(kind)} ${kind.plural} ${namespace}`
  }
}

const newlyQueued = (scope: ObjectScope, tenant: string, from: string | undefined): Watched => ({
  scope,
  tenant,
  from,
  status: 'queued',
  isDue: true,
  subscribers: new Set(),
  ending: new AbortController(),
})

function subscriptionTo(
  entry: Watched,
  subscriber: Subscriber,
  { openNow, end }: { openNow: () => void; end: () => void },
): Subscription {
  return {
    scope: entry.scope,
    get status() {
      return entry.status
    },
    openNow,
    unsubscribe() {
      entry.subscribers.delete(subscriber)
      if (entry.subscribers.size === 0) end()
    },
  }
}

const unavailable = (scope: ObjectScope): Subscription => ({
  scope,
  status: 'unavailable',
  openNow: () => undefined,
  unsubscribe: () => undefined,
})

/** Bodies are looked at and dropped, managedFields too: they say who it was. */
const keep = (object: AnyObject): AnyObject => object

const sinkOf = ({ scope, subscribers }: Watched): Sink<AnyObject> => ({
  put(object) {
    for (const subscriber of subscribers) subscriber.changed(object)
  },
  remove(object) {
    for (const subscriber of subscribers) subscriber.removed(object)
  },
  list() {
    const listings = [...subscribers].map((subscriber) => ({ subscriber, listing: subscriber.list(scope) }))
    const stillThere = () => listings.filter(({ subscriber }) => subscribers.has(subscriber))
    return {
      page(objects) {
        for (const { listing } of stillThere()) listing.page(objects)
      },
      end(version) {
        for (const { listing } of stillThere()) listing.end(version)
      },
    }
  },
  saw: () => undefined,
})

/** `undefined` stands for the beginning of time. */
function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined
  return a.length === b.length ? (a < b ? a : b) : a.length < b.length ? a : b
}
