import { type Kube, keepFed, type Listing, type Sink } from '../../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type Kind } from '../../../api/index.ts'
import { type Clock, createTally, type Failure, isFailure, type Log, seconds } from '../../../std/index.ts'
import { OWNER_LABEL } from '../objects/place.ts'
import { createLine } from './opening-queue.ts'

/** A spot is one kind in one namespace or in the whole cluster, watched as one identity. */
export interface Spot {
  kube: Kube
  kind: Kind<AnyObject>
  namespace: string | undefined
}

/** A reader is told what happens at a spot. Several syncs may share one watch. */
export interface Reader {
  /** On whose behalf: a watch counts as its who had it opened. */
  readonly tenant: string
  saw(object: AnyObject): void
  /** It is gone, or does not carry anybody's mark any more. */
  lost(object: AnyObject): void
  /** All that is there is told from now on, page by page; what was there before and is not among it is gone. */
  list(spot: Spot): Listing<AnyObject>
  /** From now on nothing is told of this spot. */
  blind(spot: Spot, why: Failure | undefined): void
}

export interface Seat {
  readonly spot: Spot
  /** Waiting for its turn, told of each change, or told nothing because the tenant may not or the cap is reached. */
  readonly word: 'waiting' | 'told' | 'blind'
  /** Somebody waits for news: it has its turn now. */
  hurry(): void
  leave(): void
}

export interface Watches {
  /** The first one at a spot opens the watch. `from`: the version of which the reader knows everything there. */
  join(spot: Spot, reader: Reader, from: string | undefined): Seat
  /** The same for who has nothing there yet, but soon may: only if the watch is open. */
  joinOpen(spot: Spot, reader: Reader): Seat | undefined
  /** Until the answer is called, something is being written: whoever only waits for drift can wait a little longer. */
  hold(): () => void
  readonly count: number
  close(): void
}

export interface WatchesOptions {
  clock: Clock
  log: Log
  /** Watches that are open at once; beyond it, objects are read each interval. */
  most: number
}

interface Watched {
  spot: Spot
  tenant: string
  readers: Set<Reader>
  word: Seat['word']
  /** Where all readers know everything up to some version, the watch begins there; else with a list. */
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
  const names = new WeakMap<Kube, number>()
  const line = createLine<Watched>(clock, (entry) => open(entry))
  let identities = 0
  let isClosed = false

  const keyOf = ({ kube, kind, namespace = '' }: Spot): string => {
    const name = names.get(kube) ?? ++identities
    names.set(kube, name)
    return `${name} ${apiVersionOf(kind)} ${kind.plural} ${namespace}`
  }
  const end = (entry: Watched, why?: Failure) => {
    entry.ending.abort()
    entry.word = 'blind'
    const key = keyOf(entry.spot)
    if (watched.get(key) === entry) {
      watched.delete(key)
      shares.add(entry.tenant, -1)
    }
    for (const reader of entry.readers) reader.blind(entry.spot, why)
  }
  const open = (entry: Watched): Promise<void> => {
    if (!entry.isDue || entry.word === 'blind') return Promise.resolve()
    entry.ending.abort()
    Object.assign(entry, { word: 'told', isDue: false, ending: new AbortController() })
    const first = Promise.withResolvers<void>()
    const { spot, from, ending } = entry
    const failed = (failure: Failure) => {
      first.resolve()
      // The tenant may not watch there, or the kind is gone: to ask again and again would not help.
      if (isFailure(failure, 'forbidden', 'unauthorized', 'not-found')) end(entry, failure)
    }
    const scope = { namespace: spot.namespace, labels: OWNER_LABEL }
    const feed = { kube: spot.kube, kind: spot.kind, scope, store: sinkOf(entry), keep, from, shared: true }
    void keepFed({ ...feed, clock, log, listed: first.resolve, failed }, ending.signal).finally(first.resolve)
    return from === undefined ? first.promise : Promise.resolve()
  }

  const isRoomFor = (tenant: string) => shares.of(tenant) < TIMES_THE_FREE * (most - shares.sum)
  const begin = (spot: Spot, tenant: string, from: string | undefined): Watched => {
    const entry: Watched = { spot, tenant, readers: new Set(), word: 'waiting', from, isDue: true, ending: new AbortController() }
    watched.set(keyOf(spot), entry)
    shares.add(tenant, 1)
    line.add(entry)
    return entry
  }
  const sit = (entry: Watched, reader: Reader): Seat => {
    entry.readers.add(reader)
    return seatOf(entry, reader, { hurry: () => void open(entry), end: () => end(entry) })
  }

  return {
    join(spot, reader, from) {
      const known = watched.get(keyOf(spot))
      if (!known) return isClosed || !isRoomFor(reader.tenant) ? blindSeat(spot) : sit(begin(spot, reader.tenant, from), reader)
      if (known.isDue) known.from = earlier(known.from, from)
      else if (from === undefined) {
        Object.assign(known, { from, isDue: true })
        line.add(known, LATE)
      }
      return sit(known, reader)
    },
    joinOpen(spot, reader) {
      const known = watched.get(keyOf(spot))
      return known && sit(known, reader)
    },
    hold: line.hold,
    get count() {
      return watched.size
    },
    close() {
      isClosed = true
      line.close()
      for (const entry of [...watched.values()]) end(entry)
    },
  }
}

function seatOf(entry: Watched, reader: Reader, { hurry, end }: { hurry: () => void; end: () => void }): Seat {
  return {
    spot: entry.spot,
    get word() {
      return entry.word
    },
    hurry,
    leave() {
      entry.readers.delete(reader)
      if (entry.readers.size === 0) end()
    },
  }
}

const blindSeat = (spot: Spot): Seat => ({ spot, word: 'blind', hurry: () => undefined, leave: () => undefined })

/** Bodies are looked at and dropped, managedFields too: they say who it was. */
const keep = (object: AnyObject): AnyObject => object

const sinkOf = ({ spot, readers }: Watched): Sink<AnyObject> => ({
  put(object) {
    for (const reader of readers) reader.saw(object)
  },
  remove(object) {
    for (const reader of readers) reader.lost(object)
  },
  list() {
    const listings = [...readers].map((reader) => ({ reader, listing: reader.list(spot) }))
    const stillThere = () => listings.filter(({ reader }) => readers.has(reader))
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
