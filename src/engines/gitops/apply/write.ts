import { type AnyObject, isDeleting, type Kind, refOf } from '../../../api/index.ts'
import { Failure, isFailure, seconds } from '../../../std/index.ts'
import { type Wishes, wishesOf } from '../annotations.ts'
import type { Entry } from '../change-set.ts'
import { concede, ignoredPaths, isLeftAlone } from '../ignore.ts'
import { managedEntriesOf } from '../managed-fields.ts'
import { keyOfId } from '../object-id.ts'
import { kindOfAny } from '../observe.ts'
import { type Desired, managerOf, OWNER_LABEL } from '../place.ts'
import { pointerOf } from '../pointer.ts'
import { bare, sentenceAbout } from '../sentence.ts'
import { immutable, immutableFieldsIn } from './immutable.ts'
import { formerKeeper } from './keeper.ts'
import { yielded } from './merge.ts'
import { isAtStake, keepPodSecurity } from './pod-security.ts'
import { isForced, isNever, recreate } from './recreate.ts'
import { takingOver } from './take-over.ts'
import type { Writing } from './writing.ts'

type Outcome = Pick<Entry, 'change' | 'why' | 'undone' | 'uid'>

/** Brings one object about as its manifest wants it. Its failure is its entry. */
export async function writeOne(item: Desired, by: Writing): Promise<Entry> {
  const { id, source } = item
  try {
    return { id, source, ...(await outcomeOf(item, asBefore(item, by))) }
  } catch (thrown) {
    const failure = plain(Failure.from(thrown))
    return { id, change: 'failed', why: sentenceAbout(id, failure), failure, source }
  }
}

/** A field that the schema does not know is answered with 500, as if the server were at fault. */
function plain(failure: Failure): Failure {
  const { code, message, object, cause } = failure
  if (code !== 'unavailable' || !message.includes('failed to create typed patch object')) return failure
  return new Failure('invalid', bare(failure), {
    reason: 'Invalid',
    remedy: 'Correct the manifest.',
    ...(object && { object }),
    cause,
  })
}

/** The watch may tell of our own write before its answer is here. What is asked for is what was there before. */
function asBefore({ id }: Desired, by: Writing): Writing {
  const own = keyOfId(id)
  const before = by.lineOf(own)
  return { ...by, lineOf: (key) => (key === own ? before : by.lineOf(key)) }
}

async function outcomeOf(item: Desired, by: Writing): Promise<Outcome> {
  const { id, object } = item
  const wishes = wishesOf(object)
  if (wishes.apply === 'ignore') return { change: 'skipped', why: 'is left alone, as its manifest asks' }
  const line = by.lineOf(keyOfId(id))
  if (line?.word === 'there' && line.leftAlone) return LEFT_ALONE
  const served = await by.send(item, () => by.kube.resolve(object.apiVersion, id.kind))
  if (!served) throw new Failure('not-found', `the destination serves no kind ${id.kind} in ${object.apiVersion}`)
  const kind = kindOfAny(served)
  const seen = await look(item, kind, wishes, by)

  if (seen && isAtStake(item, by)) keepPodSecurity(seen, by.owner, by.uidOf(keyOfId(id)) !== seen.metadata.uid)
  if (seen && isLeftAlone(seen)) return LEFT_ALONE
  if (seen && isDeleting(seen)) return beingDeleted(seen)
  if (wishes.apply === 'if-not-present') return makeOnce(item, kind, seen, by)
  const content = seen ? concede(object, seen, by.rules, managerOf(by.owner)) : object
  if (wishes.apply === 'merge') return merge(item, content, kind, seen, by)
  return own(item, content, kind, seen, by)
}

/** It stays ours: the mark may be taken off again. */
const LEFT_ALONE: Outcome = { change: 'skipped', undone: true, why: 'is left alone, as an annotation in the cluster asks' }

/** Reads the object where what is done depends on what is there. A new object costs no look, nor does one that is watched. */
async function look(item: Desired, kind: Kind<AnyObject>, { apply }: Wishes, by: Writing): Promise<AnyObject | undefined> {
  const key = keyOfId(item.id)
  const isBound = isAtStake(item, by) || apply === 'if-not-present' || ignoredPaths(item.object, by.rules).length > 0
  const isUnknown = by.uidOf(key) !== undefined && by.lineOf(key) === undefined
  if (!isBound && !isUnknown) return undefined
  try {
    return await by.send(item, () => by.kube.get(kind, refOf(item.object), by.signal))
  } catch (failure) {
    // Who may write and not read can still be served, unless the value that is there decides.
    if (isFailure(failure, 'forbidden') && !isBound) return undefined
    throw failure
  }
}

const beingDeleted = ({ metadata: { deletionTimestamp, finalizers = [], uid } }: AnyObject): Outcome => ({
  change: 'waiting',
  why: `is being deleted since ${deletionTimestamp}${finalizers.length > 0 ? `, waits for finalizers ${finalizers.join(', ')}` : ''}; then it is made anew`,
  ...(uid !== undefined && { uid }),
})

const THERE_ALREADY = 'is there already, and its manifest asks to make it only once'

async function makeOnce(item: Desired, kind: Kind<AnyObject>, seen: AnyObject | undefined, by: Writing): Promise<Outcome> {
  if (seen?.metadata.labels?.[OWNER_LABEL] === by.owner) return { change: 'unchanged', ...uidIn(seen) }
  if (seen) return { change: 'skipped', why: THERE_ALREADY }
  try {
    const made = await by.send(item, () => by.kube.create(kind, item.object, { manager: managerOf(by.owner) }))
    by.wrote(item, made)
    return { change: 'created', ...uidIn(made) }
  } catch (failure) {
    if (isFailure(failure, 'already-exists')) return { change: 'skipped', why: THERE_ALREADY }
    throw failure
  }
}

/** Never takes a field from anybody: what others hold is left out. */
async function merge(
  item: Desired,
  content: AnyObject,
  kind: Kind<AnyObject>,
  seen: AnyObject | undefined,
  by: Writing,
): Promise<Outcome> {
  const manager = managerOf(by.owner)
  const left: string[] = []
  let object = content
  let before = seen
  while (true) {
    try {
      const written = await by.send(item, () => by.kube.apply(kind, object, { manager }))
      const why = left.length > 0 && { why: `${left.join(', ')} left to others` }
      return { ...outcomeAfter(item, written, before, by), ...why }
    } catch (failure) {
      const less = isFailure(failure, 'conflict') ? yielded(object, failure) : undefined
      if (!less) throw failure
      before = await read(item, kind, by)
      const former = formerKeeper(item, before, by.owner, by.standing)
      const steps = before && former !== undefined && takingOver(before, by.owner, { former })
      if (steps) await by.send(item, () => by.kube.patch(kind, refOf(item.object), steps, { manager }))
      else left.push(...less.fields)
      if (!steps) object = less.object
    }
  }
}

async function own(
  item: Desired,
  content: AnyObject,
  kind: Kind<AnyObject>,
  seen: AnyObject | undefined,
  by: Writing,
): Promise<Outcome> {
  try {
    const { written, before } = await take(item, content, kind, seen, by)
    return outcomeAfter(item, written, before, by)
  } catch (failure) {
    const fields = immutableFieldsIn(failure)
    if (!fields) throw failure
    if (!isForced(item, by.force)) throw immutable(fields, failure, isNever(item))
    const made = await recreate(item, kind, by)
    if (!made) return { change: 'waiting', why: `is being deleted to be made anew, for ${fields.join(', ')} cannot be changed` }
    by.wrote(item, made)
    return { change: 'configured', why: `made anew, for ${fields.join(', ')} cannot be changed`, ...uidIn(made) }
  }
}

/** Of two that write at the same moment one is asked to try again; more often somebody means it. */
const TRIES = 3

/**
 * Our values, whoever set others. What is known to be ours is written with force. Everything else first without: a
 * conflict is how another owner shows itself, at no cost in the ordinary case.
 */
async function take(
  item: Desired,
  content: AnyObject,
  kind: Kind<AnyObject>,
  seen: AnyObject | undefined,
  by: Writing,
): Promise<{ written: AnyObject; before: AnyObject | undefined }> {
  const manager = managerOf(by.owner)
  const put = (force: boolean) => by.send(item, () => by.kube.apply(kind, content, { manager, ...(force && { force }) }))
  if (isOurs(item, seen, by)) return { written: await put(true), before: seen }
  for (let tries = 1; ; tries++) {
    try {
      const written = tries === 1 ? await put(false) : undefined
      const before = written ?? (await read(item, kind, by))
      const former = written ? undefined : formerKeeper(item, before, by.owner, by.standing)
      const isNew = by.uidOf(keyOfId(item.id)) !== before?.metadata.uid
      const steps = before && (isNew || former !== undefined) ? takingOver(before, by.owner, { former, byHand: true }) : undefined
      if (steps) await by.send(item, () => by.kube.patch(kind, refOf(item.object), steps, { manager }))
      return written && !steps ? { written, before: seen } : { written: await put(true), before }
    } catch (failure) {
      if (!isFailure(failure, 'conflict') || tries === TRIES) throw failure
    }
  }
}

const OWNER_POINTER = pointerOf(['metadata', 'labels', OWNER_LABEL])

function isOurs({ id }: Desired, seen: AnyObject | undefined, by: Writing): boolean {
  if (seen) return seen.metadata.labels?.[OWNER_LABEL] === by.owner && seen.metadata.uid === by.uidOf(keyOfId(id))
  const line = by.lineOf(keyOfId(id))
  return line?.word === 'there' && line.uid === by.uidOf(keyOfId(id)) && !line.drift.includes(OWNER_POINTER)
}

const read = (item: Desired, kind: Kind<AnyObject>, by: Writing): Promise<AnyObject | undefined> =>
  by.send(item, () => by.kube.get(kind, refOf(item.object), by.signal))

function outcomeAfter(item: Desired, written: AnyObject, seen: AnyObject | undefined, by: Writing): Outcome {
  const change = changeOf(item, written, seen, by)
  by.wrote(item, written)
  return { change, ...uidIn(written) }
}

function changeOf({ id }: Desired, written: AnyObject, seen: AnyObject | undefined, by: Writing): Entry['change'] {
  const key = keyOfId(id)
  const line = by.lineOf(key)
  const before = seen?.metadata.resourceVersion ?? (line?.word === 'there' ? line.version : undefined)
  if (before !== undefined) return before === written.metadata.resourceVersion ? 'unchanged' : 'configured'
  return by.uidOf(key) !== written.metadata.uid && isFresh(written) ? 'created' : 'configured'
}

/** Only its creation has happened to it: one writer, and that at the moment of creation, which may fall between two seconds. */
function isFresh(object: AnyObject): boolean {
  const [only, ...others] = managedEntriesOf(object)
  if (only?.operation !== 'Apply' || others.length > 0) return false
  const age = Date.parse(String(only.raw.time)) - Date.parse(object.metadata.creationTimestamp ?? '')
  return Math.abs(age) <= seconds(1)
}

const uidIn = ({ metadata: { uid } }: AnyObject): { uid?: string } => (uid === undefined ? {} : { uid })
