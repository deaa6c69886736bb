import { isNewer, type Kube } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import type { Clock } from '../../../std/index.ts'
import { type Book, type Judge, type Line, lineAfterWrite, lineOf, versionOf } from '../book.ts'
import type { Held } from '../inventory.ts'
import { idOf, keyOfId } from '../object-id.ts'
import { type Desired, managerOf } from '../place.ts'
import { managersOf } from './managers.ts'
import { createBell, newsIn } from './news.ts'
import { nameOf, type Place, placesOf } from './places.ts'
import { createSeating } from './seating.ts'
import type { Watches } from './watches.ts'

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
  place: string
  desired: Desired | undefined
  isHeld: boolean
}

export function createLiveBook({ watches, clock, owner, ring }: LiveBookOptions): LiveBook {
  const lines = new Map<string, Line>()
  const bell = createBell(clock, ring)
  let tracked: ReadonlyMap<string, Tracked> = new Map()
  let judge: Judge = { now: clock.now }
  let last: Followed | undefined
  let places: readonly Place[] = []

  const turn = (key: string, line: Line) => {
    const before = lines.get(key)
    lines.set(key, line)
    bell.tell(newsIn(before, line))
  }
  const isOld = (key: string, version: string | undefined) => {
    const before = lines.get(key)
    return before !== undefined && !isNewer(version, versionOf(before))
  }
  const seating = createSeating(watches, clock, {
    saw(object) {
      const key = keyOfId(idOf(object))
      const known = tracked.get(key)
      if (!known || isOld(key, object.metadata.resourceVersion)) return
      const line = lineOf(object, known.desired, judge, lines.get(key))
      turn(key, line.drift.length === 0 ? line : { ...line, by: managersOf(object, line.drift, managerOf(owner)) })
    },
    lost(object) {
      const key = keyOfId(idOf(object))
      const version = object.metadata.resourceVersion ?? ''
      if (tracked.has(key) && !isOld(key, version)) turn(key, { word: 'absent', version })
    },
    listed(spot, keys, version) {
      const name = nameOf(spot)
      for (const [key, { place }] of tracked)
        if (place === name && !keys.has(key) && !isOld(key, version)) lines.set(key, { word: 'absent', version })
      ring()
    },
    blind: (_, why) => why && ring(),
  })
  const isMute = (place: string | undefined) => place === undefined || ['blind', undefined].includes(seating.wordAt(place))

  return {
    lines,
    async follow(what) {
      const { kube, desired, held } = what
      judge = what.judge
      const isAsBefore = last?.kube === kube && last.desired === desired && last.held === held
      if (!isAsBefore) {
        // The same names on another server are other objects.
        if (last && last.kube.server !== kube.server) lines.clear()
        places = await placesOf(kube, desired, held)
        tracked = trackedIn(places, desired)
        for (const key of lines.keys()) if (!tracked.has(key)) lines.delete(key)
        last = what
      }
      seating.take(places, lines)
    },
    wrote(item, object) {
      lines.set(keyOfId(item.id), lineAfterWrite(object, item, judge))
    },
    read(book) {
      for (const [key, line] of book) {
        const before = lines.get(key)
        // A watch may have told of something newer while the answer was under way.
        if (line.word !== 'there' || !before || !isNewer(versionOf(before), line.version)) lines.set(key, line)
      }
    },
    unwatched: (held) => held.filter(({ id }) => isMute(tracked.get(keyOfId(id))?.place)),
    get isYoung() {
      for (const [key, { place, isHeld }] of tracked) if (isHeld && !lines.has(key) && !isMute(place)) return true
      return false
    },
    end() {
      bell.silence()
      seating.leave()
      tracked = new Map()
    },
  }
}

function trackedIn(places: readonly Place[], desired: readonly Desired[]): Map<string, Tracked> {
  const wanted = new Map(desired.map((item) => [keyOfId(item.id), item]))
  const tracked = new Map<string, Tracked>()
  for (const { name, keys, held } of places) {
    for (const key of keys) tracked.set(key, { place: name, desired: wanted.get(key), isHeld: false })
    for (const key of held) tracked.set(key, { place: name, desired: wanted.get(key), isHeld: true })
  }
  return tracked
}
