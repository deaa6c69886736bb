import { isNewer } from '../../../adapters/kube/index.ts'
import { type Clock, minutes } from '../../../std/index.ts'
import { type Book, type Line, versionOf } from '../book.ts'
import type { Place } from './places.ts'
import type { Reader, Seat, Watches } from './watches.ts'

/** The seats of a sync at the watches that tell of its objects. */
export interface Seating {
  /** Takes a seat at each place where something is held, and leaves the others. */
  take(places: ReadonlyMap<string, Place>, lines: Book): void
  /** How it is told of what happens at a place; `undefined` where it has no seat. */
  wordAt(place: string): Seat['word'] | undefined
  /** Whether all that is there will be told, and was not yet. */
  expects(place: string): boolean
  /** All that is there was told. */
  listed(place: string): void
  /** Something was written there: who may write by now may watch as well. */
  wroteAt(place: Place | undefined): void
  leave(): void
}

/** Where watching was refused, it is tried again after this time, or when something could be written there. */
const RETRY = minutes(5)

export function createSeating(watches: Watches, clock: Clock, reader: Reader): Seating {
  const seats = new Map<string, { seat: Seat; since: number }>()
  const expecting = new Set<string>()

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
    expecting.delete(name)
    if (!spot) return undefined
    if (held.size === 0) return watches.joinOpen(spot, reader)
    const from = versionKnown(held, lines)
    if (from === undefined) expecting.add(name)
    return watches.join(spot, reader, from)
  }

  return {
    take(places, lines) {
      drop(places)
      for (const place of places.values()) {
        const known = seats.get(place.name)?.seat
        const seat = known ?? join(place, lines)
        if (!known && seat) seats.set(place.name, { seat, since: clock.now() })
        // Somebody waits for these: they do not wait for a calm moment.
        if (seat?.word === 'waiting' && [...place.held].some((key) => isOnItsWay(lines.get(key)))) seat.hurry()
      }
    },
    wordAt: (place) => seats.get(place)?.seat.word,
    expects: (place) => expecting.has(place) && seats.get(place)?.seat.word !== 'blind',
    listed: (place) => void expecting.delete(place),
    wroteAt(place) {
      const known = seats.get(place?.name ?? '')
      if (known?.seat.word === 'blind') known.since = Number.NEGATIVE_INFINITY
    },
    leave() {
      for (const { seat } of seats.values()) seat.leave()
      seats.clear()
      expecting.clear()
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
