import { createHash } from 'node:crypto'
import { type AnyObject, isDeleting } from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import { differences, type ObjectId, partsOf, valueAt } from '../../apply/index.ts'
import { endsByGoing, type Health, type HealthRules, healthOf, healthOfRun, UNJUDGED } from '../../health/index.ts'
import { type IgnoreRules, isLeftAlone, ourFields, withoutIgnored } from '../fields/ignore.ts'
import { dependenciesOf, waveOf, wishesOf } from '../objects/annotations.ts'
import { hookOf } from '../objects/hooks.ts'
import type { Desired } from '../objects/place.ts'

/** One object as it was seen last in the cluster. Its body is not kept, for there may be ten thousand. */
export type ObjectState = PresentObject | AbsentObject | UnreadableObject

export interface PresentObject {
  readonly presence: 'present'
  readonly uid: string | undefined
  /** resourceVersion. */
  readonly version: string
  /** JSON pointers of the fields that we set and that have another value. */
  readonly drift: readonly string[]
  /** The field managers that gave them that value, where it is known. */
  readonly by?: readonly string[]
  /** Fields that the server itself writes in another way than we do (`1` for `1000m`), each with a digest of its value. */
  readonly rewritten?: Rewritten
  readonly health: Health
  /** How it will do by then if nothing more is heard of it: some things get worse by waiting alone. */
  readonly healthAfterWait?: { readonly at: number; readonly health: Health }
  /** An annotation in the cluster asks to leave it as it is. */
  readonly leftAlone?: true
  /** It asks to stay when it leaves the repository, or to be asked for. */
  readonly prune?: 'disabled' | 'confirm'
  /** Objects that must not be deleted before it. */
  readonly needs?: readonly ObjectId[]
  /** Not 0. */
  readonly wave?: number
  readonly isTerminating?: true
  /** It carries the label of another sync: nothing is done to it because of what a watch told. */
  readonly hasOtherOwner?: true
}

/** A watch vouches for this, so that a deletion needs no other look. */
export interface WatchedObject extends Pick<PresentObject, 'version' | 'prune' | 'needs' | 'wave' | 'isTerminating'> {
  readonly uid: string
}

/** It is not there, or does not carry our label any more. */
interface AbsentObject {
  readonly presence: 'absent'
  /** Of the event that said so; empty where it was read. */
  readonly version: string
}

/** The tenant may not read it. What is recorded of it is all there is. */
export interface UnreadableObject {
  readonly presence: 'unreadable'
  readonly why: string
}

/** The objects of a sync as they were seen last, by key. */
export type ObjectStates = ReadonlyMap<string, ObjectState>

type Rewritten = ReadonlyMap<string, string>

/** The rules by which a sync looks at its objects. */
export interface ObservationRules {
  /** Fields that others may change. */
  ignore?: IgnoreRules | undefined
  healthRules?: HealthRules | undefined
  now(): number
}

/** The state of an object that was seen. Without `desired` only its health counts: it waits to be pruned. */
export function stateOf(
  object: AnyObject,
  desired: Desired | undefined,
  rules: ObservationRules,
  before?: ObjectState,
): PresentObject {
  const rewritten = before?.presence === 'present' ? before.rewritten : undefined
  const drift = desired ? driftOf(object, desired, rules).filter((pointer) => !isRewritten(rewritten, pointer, object)) : []
  return {
    presence: 'present',
    uid: object.metadata.uid,
    version: object.metadata.resourceVersion ?? '',
    drift,
    ...healthsOf(object, rules),
    ...(rewritten && { rewritten }),
    ...(isLeftAlone(object) && { leftAlone: true }),
    ...pruneWishOf(object),
    ...turnOf(object),
    ...(isDeleting(object) && { isTerminating: true }),
  }
}

/** How far ahead health is judged: so long a pod may be unschedulable before it is Degraded, and no event says when that is over. */
const LOOK_AHEAD = seconds(15)

function healthsOf(object: AnyObject, { now, healthRules }: ObservationRules): Pick<PresentObject, 'health' | 'healthAfterWait'> {
  let verdict: Health | undefined
  // CEL rules do not depend on time and cost the most: they run once.
  const once = healthRules && {
    judge() {
      verdict ??= healthRules.judge(object)
      return verdict
    },
  }
  const health = healthNow(object, now(), once)
  if (health.status !== 'Progressing') return { health }
  const at = now() + LOOK_AHEAD
  const afterWait = healthNow(object, at, once)
  return afterWait.status === health.status ? { health } : { health, healthAfterWait: { at, health: afterWait } }
}

export const healthNow = (object: AnyObject | undefined, now: number, rules?: HealthRules): Health =>
  object && hookOf(object) ? healthOfRun(object, now, rules) : healthOf(object, now, rules)

function pruneWishOf(object: AnyObject): Pick<PresentObject, 'prune'> {
  const { prune, apply } = wishesOf(object)
  if (apply === 'ignore') return { prune: 'disabled' }
  return prune === 'enabled' ? {} : { prune }
}

function turnOf(object: AnyObject): Pick<PresentObject, 'needs' | 'wave'> {
  const { ids } = dependenciesOf(object)
  const wave = waveOf(object)
  return { ...(ids.length > 0 && { needs: ids }), ...(wave !== 0 && { wave }) }
}

export const watchedIn = (state: ObjectState | undefined): WatchedObject | undefined =>
  state?.presence === 'present' && !state.hasOtherOwner && state.uid !== undefined && state.version !== ''
    ? { ...state, uid: state.uid }
    : undefined

/** The answer to our own write. What differs in it differs by the server's will, and is no drift from then on. */
export function stateAfterWrite(object: AnyObject, desired: Desired, rules: ObservationRules): PresentObject {
  const pointers = isDeleting(object) ? [] : driftOf(object, desired, rules)
  const rewritten = new Map(pointers.map((pointer) => [pointer, digestAt(object, pointer)]))
  return { ...stateOf(object, undefined, rules), ...(rewritten.size > 0 && { rewritten }) }
}

function driftOf(object: AnyObject, desired: Desired, { ignore }: ObservationRules): string[] {
  const wish = wishesOf(desired.object).apply
  // Made once, or not at all: whatever became of it is as it should be.
  if (wish === 'if-not-present' || wish === 'ignore' || isLeftAlone(object)) return []
  const found = differences(withoutIgnored(desired.object, ignore), object)
  return wish === 'merge' ? found.filter(ourFields(desired.object, object)) : found
}

const isRewritten = (rewritten: Rewritten | undefined, pointer: string, object: AnyObject): boolean =>
  rewritten?.get(pointer) === digestAt(object, pointer)

/** JSON leaves `undefined` out; a digest of nothing must not be that of an empty text. */
const digestAt = (object: AnyObject, pointer: string): string =>
  createHash('sha1')
    .update(JSON.stringify([valueAt(object, partsOf(pointer)) ?? null]))
    .digest('base64url')

export const isAsDesired = (state: ObjectState, desired: Desired): boolean =>
  state.presence === 'unreadable' || (state.presence === 'present' ? state.drift.length === 0 : endsByGoing(desired.object))

export function healthIn(state: ObjectState | undefined, now: number, desired?: Desired): Health {
  if (!state) return { status: 'Unknown', message: 'was not looked at yet' }
  if (state.presence === 'present') {
    const { health, healthAfterWait } = state
    return healthAfterWait && now >= healthAfterWait.at ? healthAfterWait.health : health
  }
  if (state.presence === 'unreadable') return { status: 'Unknown', message: state.why }
  return desired && endsByGoing(desired.object) ? { status: 'Healthy' } : healthOf(undefined, 0)
}

/** A rule is for it, and had no time: whoever reads it again may learn more. */
export const isUnjudged = (state: ObjectState | undefined): boolean => state?.presence === 'present' && state.health === UNJUDGED

/** Empty where none is known. */
export const versionOf = (state: ObjectState | undefined): string =>
  !state || state.presence === 'unreadable' ? '' : state.version
