import { isNewer, type Kube, type Listing } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { type Buckets, type Clock, seconds } from '../../../std/index.ts'
import { idOf, keyOfId, partsOf } from '../../apply/index.ts'
import { managedEntriesOf, ownershipAt, ownershipOf } from '../fields/managed-fields.ts'
import type { Held } from '../inventory/inventory.ts'
import { type Desired, managerOf, OWNER_LABEL } from '../objects/place.ts'
import {
  isUnjudged,
  type ObjectState,
  type ObjectStates,
  type ObservationRules,
  type PresentObject,
  stateAfterWrite,
  stateOf,
  versionOf,
} from '../state/object-state.ts'
import { createSubscriptions } from './subscriptions.ts'
import { createTrackedObjects, nameOf, type Tracked } from './tracked-objects.ts'
import type { Subscriber, Watches } from './watches.ts'

/** The objects of a sync in the cluster, and the rules by which they are looked at. */
interface FollowedObjects {
  kube: Kube
  rules: ObservationRules
  desired: readonly Desired[]
  held: readonly Held[]
}

/** The states of the objects of a sync, kept up to date by watches. */
export interface WatchedStates {
  /** By key, as they were seen last. */
  readonly current: ObjectStates
  /** Another number whenever a state, or what is followed, has changed. */
  readonly generation: number
  /** From now on these objects are followed. It costs no request where nothing changed. */
  follow(what: FollowedObjects): Promise<void>
  wrote(item: Desired, object: AnyObject): void
  /** Takes over what was read of objects that no watch tells about. */
  read(states: ObjectStates): void
  /** Of these, the ones that no watch tells about, or of whose health it told nothing. */
  unwatched(held: readonly Held[]): Held[]
  /** Whether nothing is known yet of some object that will be told: the watches have just been opened. */
  readonly isListing: boolean
  end(): void
}

interface WatchedStatesOptions {
  watches: Watches
  clock: Clock
  owner: string
  tenant: string
  /** For each tenant, the objects that are gone through because something was heard of one of them. */
  looks: Buckets
  ring: () => void
}

export function createWatchedStates({ watches, clock, owner, tenant, looks, ring }: WatchedStatesOptions): WatchedStates {
  const current = new Map<string, ObjectState>()
  const alarm = createAlarm(clock, ring, () => looks.wait(tenant))
  const groups = createTrackedObjects()
  const { tracked } = groups
  let rules: ObservationRules = { now: clock.now }
  let server: string | undefined
  let generation = 0

  const write = (key: string, state: ObjectState) => {
    const urgency = urgencyOf(current.get(key), state)
    current.set(key, state)
    generation++
    return urgency
  }
  const removed = (key: string, version = '') => {
    if (tracked.has(key) && !isKnownAlready(current.get(key), version)) alarm.raise(write(key, { presence: 'absent', version }))
  }
  const subscriber: Subscriber = {
    tenant,
    changed(object) {
      const known = tracked.get(keyOfId(idOf(object)))
      if (!known || isKnownAlready(current.get(known.key), object.metadata.resourceVersion)) return
      alarm.raise(write(known.key, stateSeen(object, known.desired, { owner, rules, before: current.get(known.key) })))
    },
    removed: (object) => removed(keyOfId(idOf(object)), object.metadata.resourceVersion),
    list: (scope) =>
      listingOf(subscriber, groups.keysIn(nameOf(scope)), (unseen, version) => {
        for (const key of groups.keysIn(nameOf(scope))) if (unseen.has(key)) removed(key, version)
        subscriptions.listed(nameOf(scope))
        ring()
      }),
    ended: (why) => why && ring(),
  }
  const subscriptions = createSubscriptions(watches, clock, subscriber)
  const isUnlisted = ({ key, held, group }: Tracked) =>
    held !== undefined && !current.has(key) && subscriptions.coverageOf(group.name) === 'list'
  /** An object that is followed only since the list is told of when it changes, and not before. */
  const isUncovered = (key: string) => {
    const coverage = subscriptions.coverageOf(tracked.get(key)?.group.name ?? '')
    return coverage === 'nothing' || (coverage === 'changes' && !current.has(key))
  }
  const spendLooks = remembering(() => looks.spend(tenant, tracked.size + PASS))
  const isAnyUnlisted = remembering(() => isAny(tracked.values(), isUnlisted))

  return {
    current,
    async follow({ kube, desired, held, rules: given }) {
      rules = given
      // The same names on another server are other objects.
      if (server !== undefined && server !== kube.server) current.clear()
      server = kube.server
      if (await groups.move(kube, desired, held)) {
        generation++
        for (const key of current.keys()) if (!tracked.get(key)?.group.scope) current.delete(key)
      }
      subscriptions.update(groups.all, current)
      spendLooks(`${generation}`)
    },
    wrote(item, object) {
      write(item.key, latest(current.get(item.key), stateAfterWrite(object, item, rules)))
      subscriptions.wrote(tracked.get(item.key)?.group)
    },
    read(states) {
      for (const [key, state] of states) if (!isOvertaken(state, current.get(key))) write(key, state)
    },
    unwatched: (held) => held.filter(({ key }) => isUncovered(key) || isUnjudged(current.get(key))),
    get generation() {
      return generation
    },
    get isListing() {
      return isAnyUnlisted(`${generation} ${[...groups.all.keys()].map((name) => subscriptions.coverageOf(name))}`)
    },
    end() {
      alarm.cancel()
      subscriptions.unsubscribe()
      groups.clear()
    },
  }
}

/** The rest of a pass takes as long as to go through so many objects. */
const PASS = 50

/** An object that was followed there when the list began, and is on none of its pages, is unseen at the end. */
function listingOf(
  { changed }: Subscriber,
  followed: readonly string[],
  end: (unseen: ReadonlySet<string>, version: string) => void,
): Listing<AnyObject> {
  const unseen = new Set(followed)
  return {
    page(objects) {
      for (const object of objects) {
        unseen.delete(keyOfId(idOf(object)))
        changed(object)
      }
    },
    end: (version) => end(unseen, version),
  }
}

interface StateContext {
  owner: string
  rules: ObservationRules
  before: ObjectState | undefined
}

/** The watch shows what carries the owner label of any sync. */
function stateSeen(object: AnyObject, desired: Desired | undefined, { owner, rules, before }: StateContext): ObjectState {
  const state = stateOf(object, desired, rules, before)
  return {
    ...state,
    ...(state.drift.length > 0 && { by: managersOf(object, state.drift, managerOf(owner)) }),
    ...(object.metadata.labels?.[OWNER_LABEL] !== owner && { hasOtherOwner: true }),
  }
}

/** A watch may have told what became of an object before the answer to its write is read; only the answer says what the server rewrites. */
function latest(told: ObjectState | undefined, answered: PresentObject): ObjectState {
  if (!told || !isNewer(versionOf(told), answered.version)) return answered
  const { rewritten } = answered
  if (told.presence !== 'present' || !rewritten) return told
  return { ...told, rewritten, drift: told.drift.filter((pointer) => !rewritten.has(pointer)) }
}

/** A watch may have told of something newer while the answer was under way. */
const isOvertaken = (state: ObjectState, before: ObjectState | undefined): boolean =>
  state.presence === 'present' && before !== undefined && isNewer(versionOf(before), state.version)

const isKnownAlready = (before: ObjectState | undefined, version: string | undefined): boolean =>
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

/** For one pass, without watches: only what was read and written in that pass is known. */
export function createUnwatchedStates(rules: ObservationRules): WatchedStates {
  const current = new Map<string, ObjectState>()
  return {
    current,
    generation: 0,
    isListing: false,
    follow: () => Promise.resolve(),
    wrote: (item, object) => void current.set(item.key, stateAfterWrite(object, item, rules)),
    read(states) {
      for (const [key, state] of states) current.set(key, state)
    },
    unwatched: (held) => [...held],
    end: () => undefined,
  }
}

/**
 * The field managers that gave these fields their value, ours left out. Where none owns them (a field was removed), it is the
 * one that wrote last.
 */
export function managersOf(object: AnyObject, pointers: readonly string[], ours: string): string[] {
  const others = managedEntriesOf(object).filter(({ manager }) => manager !== ours)
  const fieldPaths = pointers.map(partsOf)
  const owners = others.filter(({ fields }) => {
    const ownership = ownershipOf([fields])
    return fieldPaths.some((parts) => ownershipAt(ownership, object, parts) !== 'none')
  })
  const last = others.toSorted((a, b) => (String(a.raw.time) < String(b.raw.time) ? 1 : -1)).slice(0, 1)
  return [...new Set((owners.length > 0 ? owners : last).map(({ manager }) => manager))]
}

/** A change must be acted on `now`, or it may be told `soon` where only a message has other words. */
function urgencyOf(before: ObjectState | undefined, state: ObjectState): 'now' | 'soon' | undefined {
  if (before?.presence !== state.presence) return 'now'
  if (before.presence !== 'present' || state.presence !== 'present') return undefined
  if (before.uid !== state.uid || before.drift.join() !== state.drift.join()) return 'now'
  if (before.health.status !== state.health.status) return 'now'
  return before.health.message === state.health.message ? undefined : 'soon'
}

/** A rollout says something else with every pod: that may be told a little later, all at once. */
const DEFERRAL = seconds(1)

/** `wait`: milliseconds for which the tenant has to wait, because its objects were gone through so often. */
function createAlarm(clock: Clock, ring: () => void, wait: () => number) {
  let stop: (() => void) | undefined
  const ringIn = (ms: number) => {
    stop ??= clock.after(ms, () => {
      stop = undefined
      ring()
    })
  }
  return {
    raise(urgency: 'now' | 'soon' | undefined) {
      if (!urgency) return
      const ms = Math.max(wait(), urgency === 'soon' ? DEFERRAL : 0)
      if (ms > 0) ringIn(ms)
      else ring()
    },
    cancel: () => stop?.(),
  }
}
