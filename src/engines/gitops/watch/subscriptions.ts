import { isNewer } from '../../../adapters/kube/index.ts'
import { type Clock, minutes } from '../../../std/index.ts'
import { type Book, type Line, versionOf } from '../state/object-state.ts'
import type { Place } from './tracked-objects.ts'
import type { Reader, Seat, Watches } from './watches.ts'

/** The seats of a sync at the watches that tell of its objects. */
export interface Seating {
  /** Takes a seat at each place where something is held, and leaves the others. */
  take(places: ReadonlyMap<string, Place>, lines: Book): void
  /** A place is told of by a list of everything there, only by changes from now on, or not at all. */
  wordAt(place: string): 'list' | 'changes' | 'nothing'
  /** All that is there was told. */
  listed(place: string): void
  /** Something was written there: who may write by now may watch as well. */
  wroteAt(place: Place | undefined): void
  leave(): void
}

/** Where watching was refused, it is tried again after this time, or when something could be written there. */
const RETRY = minutes(5)

export function createSeating(watches: Watches, clock: Clock, reader: Reader): Seating {
  const seats = new Map<string, { seat: Seat; isListed: boolean; since: number }>()

  const drop = (places: ReadonlyMap<string, Place>) => {
    for (const [name, { seat, since }] of seats) {
      const isStale = seat.word === 'blind' && clock.now() - since > RETRY
      const spot = places.get(name)?.spot
      if (spot?.kube === seat.spot.kube && spot.kind.plural === seat.spot.kind.plural && !isStale) continue
      seat.leave()
      seats.delete(name)
    }
  }
  const join = ({ name, spot, held }: Place, lines: Book): Seat | undefined => {
    if (!spot) return undefined
    const from = versionKnown(held, lines)
    const seat = held.size > 0 ? watches.join(spot, reader, from) : watches.joinOpen(spot, reader)
    if (seat) seats.set(name, { seat, isListed: held.size === 0 || from !== undefined, since: clock.now() })
    return seat
  }

  return {
    take(places, lines) {
      drop(places)
      for (const place of places.values()) {
        const seat = seats.get(place.name)?.seat ?? join(place, lines)
        // Somebody waits for these: they do not wait for a calm moment.
        if (seat?.word === 'waiting' && [...place.held].some((key) => isOnItsWay(lines.get(key)))) seat.hurry()
      }
    },
    wordAt(place) {
      const known = seats.get(place)
      if (!known || known.seat.word === 'blind') return 'nothing'
      return known.isListed ? 'changes' : 'list'
    },
    listed(place) {
      const known = seats.get(place)
      if (known) known.isListed = true
    },
    wroteAt(place) {
      const known = seats.get(place?.name ?? '')
      if (known?.seat.word === 'blind') known.since = Number.NEGATIVE_INFINITY
    },
    leave() {
      for (const { seat } of seats.values()) seat.leave()
      seats.clear()
    },
  }
}

/** The oldest version of these; `undefined` if one of them was never seen. */
function versionKnown(keys: Iterable<string>, lines: Book): string | undefined {
  let oldest: string | undefined
  for (const key of keys) {
    const version = versionOf(lines.get(key))
    if (version === '') return undefined
    if (oldest === undefined || isNewer(oldest, version)) oldest = version
  }
  return oldest
}

const isOnItsWay = (line: Line | undefined): boolean =>
  line?.word === 'there' && (line.health.status === 'Progressing' || line.health.status === 'Degraded')
