import { isNewer, type Kube } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../../api/index.ts'
import { type Clock, minutes, seconds } from '../../../std/index.ts'
import { type Book, type Judge, type Line, lineAfterWrite, lineOf } from '../book.ts'
import type { Held } from '../inventory.ts'
import { apiVersionFor, idOf, keyOfId } from '../object-id.ts'
import { kindOfAny } from '../observe.ts'
import { type Desired, managerOf } from '../place.ts'
import { managersOf } from './managers.ts'
import type { Reader, Seat, Spot, Watches } from './watches.ts'

/** What a sync has in the cluster, and how it is to be looked at. */
export interface Followed {
  kube: Kube
  judge: Judge
  desired: readonly Desired[]
  held: readonly Held[]
}

/** A book that watches keep up to date. */
export interface LiveBook {
  readonly lines: Book
  /** Which objects are followed from now on. It costs no request where nothing changed. */
  follow(what: Followed): Promise<void>
  wrote(item: Desired, object: AnyObject): void
  /** What was read of objects that no watch tells about. */
  read(book: Book): void
  /** Of these, the ones that no watch tells about. */
  unwatched(held: readonly Held[]): Held[]
  /** Whether nothing is known yet of some object that will be told: the watches have just been opened. */
  readonly isYoung: boolean
  end(): void
}

export interface LiveBookOptions {
  watches: Watches
  clock: Clock
  owner: string
  ring: () => void
}

interface Tracked {
  seat: string
  desired: Desired | undefined
  isHeld: boolean
}

/** Where watching was refused, it is tried again after this time. */
const RETRY = minutes(5)
/** Progress in words may be told a little later: a rollout has many. */
const MURMUR = seconds(1)

export function createLiveBook({ watches, clock, owner, ring }: LiveBookOptions): LiveBook {
  const lines = new Map<string, Line>()
  const seats = new Map<string, { seat: Seat; since: number }>()
  let tracked = new Map<string, Tracked>()
  let judge: Judge = { now: clock.now }
  let calm: (() => void) | undefined
  let last: Followed | undefined
  let places: readonly Place[] = []

  const murmur = () => {
    calm ??= clock.after(MURMUR, () => {
      calm = undefined
      ring()
    })
  }
  const turn = (key: string, line: Line) => {
    const before = lines.get(key)
    lines.set(key, line)
    const news = newsIn(before, line)
    if (news === 'loud') ring()
    else if (news === 'quiet') murmur()
  }
  const reader: Reader = {
    saw(object) {
      const key = keyOfId(idOf(object))
      const known = tracked.get(key)
      const before = lines.get(key)
      if (!known || (before && !isNewer(object.metadata.resourceVersion, versionOf(before)))) return
      const line = lineOf(object, known.desired, judge, before)
      turn(key, line.drift.length === 0 ? line : { ...line, by: managersOf(object, line.drift, managerOf(owner)) })
    },
    lost(object) {
      const key = keyOfId(idOf(object))
      const version = object.metadata.resourceVersion ?? ''
      const before = lines.get(key)
      if (tracked.has(key) && !(before && isNewer(versionOf(before), version))) turn(key, { word: 'absent', version })
    },
    listed(spot, keys, version) {
      const name = nameOf(spot)
      for (const [key, { seat }] of tracked) {
        const before = lines.get(key)
        if (seat !== name || keys.has(key) || (before && isNewer(versionOf(before), version))) continue
        lines.set(key, { word: 'absent', version })
      }
      ring()
    },
    blind: (_, why) => {
      if (why) ring()
    },
  }

  const sit = (spots: readonly Place[]) => {
    const wanted = new Map(spots.map(({ spot }) => [nameOf(spot), spot]))
    for (const [name, { seat, since }] of seats) {
      const isStale = seat.word === 'blind' && clock.now() - since > RETRY
      if (wanted.get(name)?.kube === seat.spot.kube && !isStale) continue
      seat.leave()
      seats.delete(name)
    }
    for (const { spot, held } of spots) {
      const name = nameOf(spot)
      const known = seats.get(name)?.seat
      const seat =
        known ?? (held.length > 0 ? watches.join(spot, reader, versionKnown(held, lines)) : watches.joinOpen(spot, reader))
      if (!known && seat) seats.set(name, { seat, since: clock.now() })
      if (seat?.word === 'waiting' && held.some((key) => isOnItsWay(lines.get(key)))) seat.hurry()
    }
  }

  return {
    lines,
    async follow(what) {
      const { kube, desired, held } = what
      judge = what.judge
      const isAsBefore = last?.kube === kube && last.desired === desired && last.held === held
      if (isAsBefore) return sit(places)
      const wanted = new Map(desired.map((item) => [keyOfId(item.id), item]))
      if (last && last.kube.server !== kube.server) lines.clear()
      places = await placesOf(kube, desired, held)
      last = what
      tracked = new Map()
      for (const { spot, keys, held: ours } of places) {
        const seat = nameOf(spot)
        const isHeld = new Set(ours)
        for (const key of keys) tracked.set(key, { seat, desired: wanted.get(key), isHeld: isHeld.has(key) })
      }
      for (const key of lines.keys()) if (!tracked.has(key)) lines.delete(key)
      sit(places)
    },
    wrote(item, object) {
      watches.busy()
      const key = keyOfId(item.id)
      lines.set(key, lineAfterWrite(object, item, judge))
    },
    read(book) {
      for (const [key, line] of book) {
        const before = lines.get(key)
        // A watch may have told of something newer while the answer was under way.
        if (line.word !== 'there' || !before || !isNewer(versionOf(before), line.version)) lines.set(key, line)
      }
    },
    unwatched: (held) =>
      held.filter(({ id }) => {
        const known = tracked.get(keyOfId(id))
        const word = known && seats.get(known.seat)?.seat.word
        return word === undefined || word === 'blind'
      }),
    get isYoung() {
      for (const [key, { seat, isHeld }] of tracked)
        if (isHeld && !lines.has(key) && seats.get(seat)?.seat.word !== 'blind') return true
      return false
    },
    end() {
      calm?.()
      for (const { seat } of seats.values()) seat.leave()
      seats.clear()
      tracked.clear()
    },
  }
}

const nameOf = ({ kind, namespace = '' }: Spot): string => `${kind.group}/${kind.version}/${kind.plural}/${namespace}`

/** A spot with what the sync has there, or is about to have. */
interface Place {
  spot: Spot
  keys: string[]
  held: string[]
}

/** One place for each kind and namespace; a kind that is not served has none. */
async function placesOf(kube: Kube, desired: readonly Desired[], held: readonly Held[]): Promise<Place[]> {
  const kinds = new Map<string, Kind<AnyObject> | undefined>()
  const places = new Map<string, Place>()
  const placeOf = async ({ id, version }: Pick<Held, 'id' | 'version'>): Promise<Place | undefined> => {
    const apiVersion = apiVersionFor(id.group, version)
    const name = `${apiVersion}/${id.kind}`
    if (!kinds.has(name)) kinds.set(name, await kindOf(kube, apiVersion, id.kind))
    const kind = kinds.get(name)
    if (!kind) return undefined
    const spot = { kube, kind, namespace: id.namespace }
    const place = places.get(nameOf(spot)) ?? { spot, keys: [], held: [] }
    places.set(nameOf(spot), place)
    return place
  }
  for (const item of desired) (await placeOf(item))?.keys.push(keyOfId(item.id))
  for (const item of held) {
    const place = await placeOf(item)
    place?.keys.push(keyOfId(item.id))
    place?.held.push(keyOfId(item.id))
  }
  return [...places.values()]
}

async function kindOf(kube: Kube, apiVersion: string, kind: string): Promise<Kind<AnyObject> | undefined> {
  const found = await kube.resolve(apiVersion, kind)
  return found && kindOfAny(found)
}

/** The oldest version of these; `undefined` if one of them was never seen. */
function versionKnown(keys: readonly string[], lines: Book): string | undefined {
  let oldest: string | undefined
  for (const key of keys) {
    const version = versionOf(lines.get(key))
    if (version === '') return undefined
    if (oldest === undefined || isNewer(oldest, version)) oldest = version
  }
  return oldest
}

const versionOf = (line: Line | undefined): string => (!line || line.word === 'unreadable' ? '' : line.version)

const isOnItsWay = (line: Line | undefined): boolean =>
  line?.word === 'there' && (line.health.status === 'Progressing' || line.health.status === 'Degraded')

/** What changed between two looks: what must be acted on, what is only said in another way, or nothing. */
function newsIn(before: Line | undefined, line: Line): 'loud' | 'quiet' | undefined {
  if (before?.word !== line.word) return 'loud'
  if (before.word !== 'there' || line.word !== 'there') return undefined
  if (before.drift.join() !== line.drift.join() || before.uid !== line.uid) return 'loud'
  if (before.health.status !== line.health.status) return 'loud'
  return before.health.message === line.health.message ? undefined : 'quiet'
}
