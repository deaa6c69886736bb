import { type Clock, isFailure, minutes, seconds } from '../../../std/index.ts'
import { keyOfId } from '../../apply/index.ts'
import type { Entry } from '../objects/change-set.ts'
import type { Owner } from '../objects/place.ts'

/** The objects that a sync wants in a cluster. */
interface Want {
  owner: Owner
  /** URL of the server. */
  server: string
  /** Of the objects. */
  keys: ReadonlySet<string>
  /** The commit that says so. */
  commitId: string
  /** Called when another sync begins or ceases to want one of these objects. */
  changed: () => void
}

/**
 * Which sync of this process wants which object, so that an object may go from one to the other in any order, and two that
 * want the same are told instead of changing it in turns. Anybody may want anything: what a sync says counts against another
 * one only as far as the server lets it write the object. Lost at a restart: then nobody gives anything up until he has said
 * what he wants.
 */
export interface Wants {
  /** From now on it wants just this. */
  declare(want: Want): void
  /** Notes whether an object could be written when it was tried. */
  tried(owner: string, server: string, entry: Entry): void
  /** It does nothing for now (suspended, manual): it keeps what it has, and takes nothing. */
  rest(owner: string): void
  /** It is on its way out, and gives everything to whoever takes it. */
  leave(owner: string): void
  /** It wants nothing any more: deleted, or never heard of again. */
  withdraw(owner: string): void
  of(owner: string): Want | undefined
  /** Whether a sync that keeps an object still wants it; `unknown`: it has not said yet, or is no sync of ours. */
  standing(otherOwner: string, server: string, key: string): 'wants' | 'releases' | 'unknown'
  /**
   * The other sync that may take the object over, if one wants it and, as far as is known, can write it. It is given some seconds from
   * the first answer on, and as long as it is busy writing.
   */
  successorOf(owner: string, server: string, key: string): Owner | undefined
  /** Objects that another sync wants as well and could write, and not only for the moment in which they go from one to the other. */
  contested(owner: string): Contested[]
}

export interface Contested {
  key: string
  by: Owner
}

interface WantsOptions {
  clock: Clock
  /** Whether there is such a sync, even if it has not said yet what it wants. */
  exists?: (owner: string) => boolean
}

/** In a commit that moves an object both want it for a moment: nobody is told before that is over. */
const GRACE = seconds(3)
/** A successor takes an object over by then, or goes on writing others. */
const PATIENCE = seconds(10)
/** Nobody holds up a deletion for longer, however busy. */
const LONGEST = minutes(5)

export function createWants({ clock, exists }: WantsOptions): Wants {
  const wants = new Map<string, Want>()
  const interests = createInterests()
  const { own, others, shared } = interests
  const idle = new Map<string, 'rests' | 'leaves'>()
  /** When each one wrote something last. */
  const wroteAt = new Map<string, number>()

  const wake = (owners: Iterable<string>) => {
    for (const id of owners) wants.get(id)?.changed()
  }
  const change = (owner: string, before: Want | undefined, after: Want | undefined) => {
    const { given, taken } = move(interests, { owner, since: clock.now() }, before, after)
    wake(given)
    if (taken.size > 0) clock.after(GRACE, () => wake([owner, ...taken]))
  }
  const idles = (owner: string, how: 'rests' | 'leaves') => {
    if (idle.get(owner) === how) return
    idle.set(owner, how)
    wake(rivalsOf(owner))
  }
  const rivalsOf = (owner: string) => rivalsIn(interests, owner, wants.get(owner))
  const mayTakeOver = (interest: Interest) =>
    !idle.has(interest.owner) && isInTime(interest, wroteAt.get(interest.owner) ?? 0, clock.now())
  return {
    declare(want) {
      const { owner, keys, server } = want
      const before = wants.get(owner.id)
      wants.set(owner.id, want)
      if (idle.delete(owner.id)) clock.after(GRACE, () => wake(rivalsOf(owner.id)))
      if (before?.keys !== keys || before.server !== server) change(owner.id, before, want)
    },
    tried(owner, server, entry) {
      const can = couldWrite(entry)
      const place = placeOf(server, keyOfId(entry.id))
      const interest = own(owner, place)
      if (can === true) wroteAt.set(owner, clock.now())
      if (!interest || can === undefined || interest.can === can) return
      interest.can = can
      // Whom it concerns looks again when the moment is over in which it may be on its way.
      if (shared.has(place)) clock.after(GRACE, () => wake(others(owner, place).map((other) => other.owner)))
    },
    rest: (owner) => void (wants.has(owner) && idles(owner, 'rests')),
    leave: (owner) => idles(owner, 'leaves'),
    withdraw(owner) {
      const before = wants.get(owner)
      wants.delete(owner)
      idle.delete(owner)
      wroteAt.delete(owner)
      change(owner, before, undefined)
    },
    of: (owner) => wants.get(owner),
    standing(otherOwner, server, key) {
      if (idle.get(otherOwner) === 'leaves') return 'releases'
      const want = wants.get(otherOwner)
      if (want) return holds(want, server, key) ? 'wants' : 'releases'
      return exists?.(otherOwner) ? 'wants' : 'unknown'
    },
    successorOf(owner, server, key) {
      const interest = others(owner, placeOf(server, key)).find(mayTakeOver)
      if (!interest) return
      interest.mayTakeSince ??= clock.now()
      return wants.get(interest.owner)?.owner
    },
    contested(owner) {
      const { server = '', keys = new Set<string>() } = wants.get(owner) ?? {}
      const found: Contested[] = []
      // What others share with one another, a hundred thousand objects if they like, costs this one nothing.
      const places =
        keys.size < shared.size ? [...keys].map((key) => placeOf(server, key)).filter((place) => shared.has(place)) : shared
      for (const place of places) {
        const active = others(owner, place).filter((other) => !idle.has(other.owner))
        const rival = contestOf(own(owner, place), active, clock.now())
        const by = rival && wants.get(rival.owner)?.owner
        if (by) found.push({ key: place.slice(server.length + 1), by })
      }
      return found
    },
  }
}

/** Notes what is not wanted any more and what is new. Answers the syncs that this concerns. */
function move(interests: Interests, interest: Interest, before: Want | undefined, after: Want | undefined) {
  const [given, taken] = [new Set<string>(), new Set<string>()]
  for (const key of before?.keys ?? []) {
    if (!before || holds(after, before.server, key)) continue
    for (const left of interests.remove(interest.owner, placeOf(before.server, key))) given.add(left.owner)
  }
  for (const key of after?.keys ?? []) {
    if (!after || holds(before, after.server, key)) continue
    for (const rival of interests.add({ ...interest }, placeOf(after.server, key))) taken.add(rival.owner)
  }
  return { given, taken }
}

/** The other syncs that want any of this. */
function rivalsIn(
  { shared, others }: Interests,
  owner: string,
  { server = '', keys = new Set() }: Partial<Want> = {},
): Set<string> {
  const places = [...keys].map((key) => placeOf(server, key)).filter((place) => shared.has(place))
  return new Set(places.flatMap((place) => others(owner, place).map((interest) => interest.owner)))
}

/** The first of the others that could write it, for whoever could as well. */
function contestOf(interest: Interest | undefined, others: readonly Interest[], now: number): Interest | undefined {
  if (!interest || interest.can === false) return undefined
  return others.find(({ can, since }) => can === true && now - Math.max(since, interest.since) >= GRACE)
}

/** A sync that is known to be unable is no successor; one that fails to take the object over has no more time than was given. */
function isInTime({ can, mayTakeSince }: Interest, wroteAt: number, now: number): boolean {
  if (mayTakeSince === undefined) return can !== false
  const heard = can === false ? mayTakeSince : Math.max(mayTakeSince, wroteAt)
  return now - heard < PATIENCE && now - mayTakeSince < LONGEST
}

/** A sync that is refused an object because another one keeps it was let that far by the server. Other failures say nothing. */
function couldWrite({ change, failure }: Entry): boolean | undefined {
  if (failure?.reason === 'KeptByOther' || change === 'created' || change === 'configured') return true
  if (change === 'skipped') return false
  if (change !== 'failed' || isFailure(failure, 'unavailable', 'timeout', 'conflict', 'expired', 'cancelled')) return undefined
  return false
}

const placeOf = (server: string, key: string): string => `${server} ${key}`

const holds = (want: Want | undefined, server: string, key: string): boolean => want?.server === server && want.keys.has(key)

/** That a sync wants an object. */
interface Interest {
  readonly owner: string
  readonly since: number
  /** Whether the server let it write the object when it was tried last; unknown before. */
  can?: boolean | undefined
  /** Since when it may take it. */
  mayTakeSince?: number | undefined
}

type Interests = ReturnType<typeof createInterests>

/** Which syncs want an object, by its server and key; the first to want it comes first. */
function createInterests() {
  const interests = new Map<string, readonly Interest[]>()
  const shared = new Set<string>()
  const others = (owner: string, place: string) => (interests.get(place) ?? []).filter((interest) => interest.owner !== owner)
  const keep = (place: string, left: readonly Interest[]) => {
    if (left.length > 0) interests.set(place, left)
    else interests.delete(place)
    if (left.length > 1) shared.add(place)
    else shared.delete(place)
  }
  return {
    own: (owner: string, place: string) => interests.get(place)?.find((interest) => interest.owner === owner),
    others,
    /** The others lose their time to take the object over. Answers them. */
    add(interest: Interest, place: string): Interest[] {
      const there = others(interest.owner, place).map((other) => ({ ...other, mayTakeSince: undefined }))
      keep(place, [...there, interest])
      return there
    },
    /** Answers who is left. */
    remove(owner: string, place: string): Interest[] {
      const left = others(owner, place)
      keep(place, left)
      return left
    },
    /** Places at which more than one wants something. */
    shared,
  }
}
