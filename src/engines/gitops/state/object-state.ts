import { createHash } from 'node:crypto'
import { type AnyObject, isDeleting } from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import { differences, type ObjectId, partsOf, valueAt } from '../../apply/index.ts'
import { endsByGoing, type Health, type HealthRules, healthOf, UNJUDGED } from '../../health/index.ts'
import { type IgnoreRules, isLeftAlone, ourFields, withoutIgnored } from '../fields/ignore.ts'
import { dependenciesOf, wishesOf } from '../objects/annotations.ts'
import type { Desired } from '../objects/place.ts'

/** The memory of one object in the cluster. Its body is not kept, for there may be ten thousand. */
export type Line = There | Absent | Unreadable

export interface There {
  readonly word: 'there'
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
  readonly later?: { readonly at: number; readonly health: Health }
  /** An annotation in the cluster asks to leave it as it is. */
  readonly leftAlone?: true
  /** It asks to stay when it leaves the repository, or to be asked for. */
  readonly prune?: 'disabled' | 'confirm'
  /** What must not be deleted before it. */
  readonly needs?: readonly ObjectId[]
  readonly isLeaving?: true
  /** It carries the mark of another sync: nothing is done to it on the word of a watch. */
  readonly isOthers?: true
}

/** A watch vouches for this, so that a deletion needs no other look. */
export interface Mark extends Pick<There, 'version' | 'prune' | 'needs' | 'isLeaving'> {
  readonly uid: string
}

/** It is not there, or does not carry our mark any more. */
export interface Absent {
  readonly word: 'absent'
  /** Of the event that said so; empty where it was read. */
  readonly version: string
}

/** The tenant may not read it. What is recorded of it is all there is. */
export interface Unreadable {
  readonly word: 'unreadable'
  readonly why: string
}

/** The objects of a sync as they were seen last, by key. */
export type Book = ReadonlyMap<string, Line>

export type Rewritten = ReadonlyMap<string, string>

/** How a sync looks at its objects. */
export interface Judge {
  /** Fields that others may change. */
  ignore?: IgnoreRules | undefined
  healthRules?: HealthRules | undefined
  now(): number
}

/** The verdict on an object that was seen. Without `desired` only its health counts: it waits to be pruned. */
export function lineOf(object: AnyObject, desired: Desired | undefined, judge: Judge, before?: Line): There {
  const rewritten = before?.word === 'there' ? before.rewritten : undefined
  const drift = desired ? driftOf(object, desired, judge).filter((pointer) => !isRewritten(rewritten, pointer, object)) : []
  return {
    word: 'there',
    uid: object.metadata.uid,
    version: object.metadata.resourceVersion ?? '',
    drift,
    ...healthsOf(object, judge),
    ...(rewritten && { rewritten }),
    ...(isLeftAlone(object) && { leftAlone: true }),
    ...pruneWishOf(object),
    ...needsOf(object),
    ...(isDeleting(object) && { isLeaving: true }),
  }
}

/** A pod that cannot be placed now is sick in a while, and no event says so. */
const WHILE = seconds(15)

function healthsOf(object: AnyObject, { now, healthRules }: Judge): Pick<There, 'health' | 'later'> {
  let verdict: Health | undefined
  // A rule says the same at any time, and takes the most.
  const rules = healthRules && {
    judge() {
      verdict ??= healthRules.judge(object)
      return verdict
    },
  }
  const health = healthOf(object, now(), rules)
  if (health.status !== 'Progressing') return { health }
  const later = { at: now() + WHILE, health: healthOf(object, now() + WHILE, rules) }
  return later.health.status === health.status ? { health } : { health, later }
}

function pruneWishOf(object: AnyObject): Pick<There, 'prune'> {
  const { prune, apply } = wishesOf(object)
  if (apply === 'ignore') return { prune: 'disabled' }
  return prune === 'enabled' ? {} : { prune }
}

function needsOf(object: AnyObject): Pick<There, 'needs'> {
  const { ids } = dependenciesOf(object)
  return ids.length > 0 ? { needs: ids } : {}
}

export const markIn = (line: Line | undefined): Mark | undefined =>
  line?.word === 'there' && !line.isOthers && line.uid !== undefined && line.version !== ''
    ? { ...line, uid: line.uid }
    : undefined

/** The answer to our own write. What differs in it differs by the server's will, and is no drift from then on. */
export function lineAfterWrite(object: AnyObject, desired: Desired, judge: Judge): There {
  const pointers = isDeleting(object) ? [] : driftOf(object, desired, judge)
  const rewritten = new Map(pointers.map((pointer) => [pointer, digestAt(object, pointer)]))
  return { ...lineOf(object, undefined, judge), ...(rewritten.size > 0 && { rewritten }) }
}

function driftOf(object: AnyObject, desired: Desired, { ignore }: Judge): string[] {
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

export const isAsDesired = (line: Line, desired: Desired): boolean =>
  line.word === 'unreadable' || (line.word === 'there' ? line.drift.length === 0 : endsByGoing(desired.object))

export function healthIn(line: Line | undefined, now: number, desired?: Desired): Health {
  if (!line) return { status: 'Unknown', message: 'was not looked at yet' }
  if (line.word === 'there') return line.later && now >= line.later.at ? line.later.health : line.health
  if (line.word === 'unreadable') return { status: 'Unknown', message: line.why }
  return desired && endsByGoing(desired.object) ? { status: 'Healthy' } : healthOf(undefined, 0)
}

/** A rule is for it, and had no time: whoever reads it again may learn more. */
export const isUnjudged = (line: Line | undefined): boolean => line?.word === 'there' && line.health === UNJUDGED

/** Empty where none is known. */
export const versionOf = (line: Line | undefined): string => (!line || line.word === 'unreadable' ? '' : line.version)
