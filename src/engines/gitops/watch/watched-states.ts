import { isNewer, type Kube, type Listing } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { type Buckets, type Clock, seconds } from '../../../std/index.ts'
import { idOf, keyOfId, partsOf } from '../../apply/index.ts'
import { claimOn, claimsOf, managedEntriesOf } from '../fields/managed-fields.ts'
import type { Held } from '../inventory/inventory.ts'
import { type Desired, managerOf, OWNER_LABEL } from '../objects/place.ts'
import {
  type Book,
  isUnjudged,
  type Judge,
  type Line,
  lineAfterWrite,
  lineOf,
  type There,
  versionOf,
} from '../state/object-state.ts'
import { createSeating } from './subscriptions.ts'
import { createPlaces, nameOf, type Tracked } from './tracked-objects.ts'
import type { Reader, Watches } from './watches.ts'

/** The objects of a sync in the cluster, and the rules by which they are looked at. */
export interface Followed {
  kube: Kube
  judge: Judge
  desired: readonly Desired[]
  held: readonly Held[]
}

/** A book that watches keep up to date. */
export interface LiveBook {
  readonly lines: Book
  /** Another number whenever a line, or what is followed, has changed. */
  readonly edition: number
  /** Which objects are followed from now on. It costs no request where nothing changed. */
  follow(what: Followed): Promise<void>
  wrote(item: Desired, object: AnyObject): void
  /** Takes over what was read of objects that no watch tells about. */
  read(book: Book): void
  /** Of these, the ones that no watch tells about, or of whose health it told nothing. */
  unwatched(held: readonly Held[]): Held[]
  /** Whether nothing is known yet of some object that will be told: the watches have just been opened. */
  readonly isYoung: boolean
  end(): void
}

export interface LiveBookOptions {
  watches: Watches
  clock: Clock
  owner: string
  tenant: string
  /** For each tenant, the objects that are gone through because something was heard of one of them. */
  looks: Buckets
  ring: () => void
}

export function createLiveBook({ watches, clock, owner, tenant, looks, ring }: LiveBookOptions): LiveBook {
  const lines = new Map<string, Line>()
  const bell = createBell(clock, ring, () => looks.wait(tenant))
  const places = createPlaces()
  const { tracked } = places
  let judge: Judge = { now: clock.now }
  let server: string | undefined
  let edition = 0

  const write = (key: string, line: Line) => {
    const news = newsIn(lines.get(key), line)
    lines.set(key, line)
    edition++
    return news
  }
  const lost = (key: string, version = '') => {
    if (tracked.has(key) && !isNoNews(lines.get(key), version)) bell.tell(write(key, { word: 'absent', version }))
  }
  const reader: Reader = {
    tenant,
    saw(object) {
      const known = tracked.get(keyOfId(idOf(object)))
      if (!known || isNoNews(lines.get(known.key), object.metadata.resourceVersion)) return
      bell.tell(write(known.key, lineSeen(object, known.desired, { owner, judge, before: lines.get(known.key) })))
    },
    lost: (object) => lost(keyOfId(idOf(object)), object.metadata.resourceVersion),
    list: (spot) =>
      listingOf(reader, places.keysAt(nameOf(spot)), (unseen, version) => {
        for (const key of places.keysAt(nameOf(spot))) if (unseen.has(key)) lost(key, version)
        seating.listed(nameOf(spot))
        ring()
      }),
    blind: (_, why) => why && ring(),
  }
  const seating = createSeating(watches, clock, reader)
  const isUnheard = ({ key, held, place }: Tracked) =>
    held !== undefined && !lines.has(key) && seating.wordAt(place.name) === 'list'
  /** What came to be followed after the list is told of when it changes, and not before. */
  const isMute = (key: string) => {
    const word = seating.wordAt(tracked.get(key)?.place.name ?? '')
    return word === 'nothing' || (word === 'changes' && !lines.has(key))
  }
  const spendLooks = remembering(() => looks.spend(tenant, tracked.size + PASS))
  const isAnyUnheard = remembering(() => isAny(tracked.values(), isUnheard))

  return {
    lines,
    async follow({ kube, desired, held, judge: given }) {
      judge = given
      // The same names on another server are other objects.
      if (server !== undefined && server !== kube.server) lines.clear()
      server = kube.server
      if (await places.move(kube, desired, held)) {
        edition++
        for (const key of lines.keys()) if (!tracked.get(key)?.place.spot) lines.delete(key)
      }
      seating.take(places.all, lines)
      spendLooks(`${edition}`)
    },
    wrote(item, object) {
      write(item.key, latest(lines.get(item.key), lineAfterWrite(object, item, judge)))
      seating.wroteAt(tracked.get(item.key)?.place)
    },
    read(book) {
      for (const [key, line] of book) if (!isOvertaken(line, lines.get(key))) write(key, line)
    },
    unwatched: (held) => held.filter(({ key }) => isMute(key) || isUnjudged(lines.get(key))),
    get edition() {
      return edition
    },
    get isYoung() {
      return isAnyUnheard(`${edition} ${[...places.all.keys()].map((name) => seating.wordAt(name))}`)
    },
    end() {
      bell.silence()
      seating.leave()
      places.clear()
    },
  }
}

/** The rest of a pass takes as long as to go through so many objects. */
const PASS = 50

/** An object that was followed there when the list began, and is on none of its pages, is unseen at the end. */
function listingOf(
  { saw }: Reader,
  followed: readonly string[],
  end: (unseen: ReadonlySet<string>, version: string) => void,
): Listing<AnyObject> {
  const unseen = new Set(followed)
  return {
    page(objects) {
      for (const object of objects) {
        unseen.delete(keyOfId(idOf(object)))
        saw(object)
      }
    },
    end: (version) => end(unseen, version),
  }
}

interface Viewpoint {
  owner: string
  judge: Judge
  before: Line | undefined
}

/** The watch shows what carries the mark of any sync. */
function lineSeen(object: AnyObject, desired: Desired | undefined, { owner, judge, before }: Viewpoint): Line {
  const line = lineOf(object, desired, judge, before)
  return {
    ...line,
    ...(line.drift.length > 0 && { by: managersOf(object, line.drift, managerOf(owner)) }),
    ...(object.metadata.labels?.[OWNER_LABEL] !== owner && { isOthers: true }),
  }
}

/** A watch may have told what became of an object before the answer to its write is read; only the answer says what the server rewrites. */
function latest(told: Line | undefined, answered: There): Line {
  if (!told || !isNewer(versionOf(told), answered.version)) return answered
  const { rewritten } = answered
  if (told.word !== 'there' || !rewritten) return told
  return { ...told, rewritten, drift: told.drift.filter((pointer) => !rewritten.has(pointer)) }
}

/** A watch may have told of something newer while the answer was under way. */
const isOvertaken = (line: Line, before: Line | undefined): boolean =>
  line.word === 'there' && before !== undefined && isNewer(versionOf(before), line.version)

const isNoNews = (before: Line | undefined, version: string | undefined): boolean =>
  before !== undefined && !isNewer(version, versionOf(before))

/** Asked again as of the same, it gives the same answer. */
function remembering<T>(find: () => T): (asOf: string) => T {
  let last: { asOf: string; found: T } | undefined
  return (asOf) => {
    if (last?.asOf !== asOf) last = { asOf, found: find() }
    return last.found
  }
}

function isAny<T>(items: Iterable<T>, is: (item: T) => boolean): boolean {
  for (const item of items) if (is(item)) return true
  return false
}

/** A book for one pass, without watches: what it knows is what was read and written in that pass. */
export function createPlainBook(judge: Judge): LiveBook {
  const lines = new Map<string, Line>()
  return {
    lines,
    edition: 0,
    isYoung: false,
    follow: () => Promise.resolve(),
    wrote: (item, object) => void lines.set(item.key, lineAfterWrite(object, item, judge)),
    read(book) {
      for (const [key, line] of book) lines.set(key, line)
    },
    unwatched: (held) => [...held],
    end: () => undefined,
  }
}

/**
 * Who gave these fields their value: the field managers that own them, ours left out. Where none owns them (a field was
 * removed), whoever wrote last.
 */
export function managersOf(object: AnyObject, pointers: readonly string[], ours: string): string[] {
  const others = managedEntriesOf(object).filter(({ manager }) => manager !== ours)
  const places = pointers.map(partsOf)
  const owners = others.filter(({ fields }) => {
    const claims = claimsOf([fields])
    return places.some((parts) => claimOn(claims, object, parts) !== 'none')
  })
  const last = others.toSorted((a, b) => (String(a.raw.time) < String(b.raw.time) ? 1 : -1)).slice(0, 1)
  return [...new Set((owners.length > 0 ? owners : last).map(({ manager }) => manager))]
}

/** A change between two looks is `loud` if it must be acted on, and `quiet` if the same is only said in another way. */
export function newsIn(before: Line | undefined, line: Line): 'loud' | 'quiet' | undefined {
  if (before?.word !== line.word) return 'loud'
  if (before.word !== 'there' || line.word !== 'there') return undefined
  if (before.uid !== line.uid || before.drift.join() !== line.drift.join()) return 'loud'
  if (before.health.status !== line.health.status) return 'loud'
  return before.health.message === line.health.message ? undefined : 'quiet'
}

/** A rollout says something else with every pod: that may be told a little later, all at once. */
const MURMUR = seconds(1)

/** `wait`: milliseconds for which those whom it rings for have to wait, because they were looked at so often. */
export function createBell(clock: Clock, ring: () => void, wait: () => number) {
  let stop: (() => void) | undefined
  const ringIn = (ms: number) => {
    stop ??= clock.after(ms, () => {
      stop = undefined
      ring()
    })
  }
  return {
    tell(news: 'loud' | 'quiet' | undefined) {
      if (!news) return
      const ms = Math.max(wait(), news === 'quiet' ? MURMUR : 0)
      if (ms > 0) ringIn(ms)
      else ring()
    },
    silence: () => stop?.(),
  }
}
