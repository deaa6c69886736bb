import { type AnyObject, isDeleting, type Kind } from '../../../api/index.ts'
import { Failure, isFailure } from '../../../std/index.ts'
import { keyOfId } from '../../apply/index.ts'
import { concede, isLeftAlone } from '../fields/ignore.ts'
import { type Wishes, wishesOf } from '../objects/annotations.ts'
import type { Entry } from '../objects/change-set.ts'
import { type Desired, managerOf, OWNER_LABEL } from '../objects/place.ts'
import { bare, sentenceAbout } from '../objects/sentence.ts'
import { kindOfAny } from '../state/observe.ts'
import { type Case, type Outcome, read, uidIn, type Writing } from './case.ts'
import type { Taking } from './keeper.ts'
import { merge } from './merge.ts'
import { own } from './own.ts'
import { isAtStake, keepPodSecurity } from './pod-security.ts'

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
  const self = keyOfId(id)
  const before = by.lineOf(self)
  return { ...by, lineOf: (key) => (key === self ? before : by.lineOf(key)) }
}

/** The book may be behind by the time that an event takes. Then the object is looked at. */
async function outcomeOf(item: Desired, by: Writing): Promise<Outcome> {
  const self = keyOfId(item.id)
  try {
    return await attempt(item, by)
  } catch (failure) {
    if (!isFailure(failure, 'conflict') || by.lineOf(self)?.word !== 'there') throw failure
    return attempt(item, { ...by, lineOf: (key) => (key === self ? undefined : by.lineOf(key)) })
  }
}

async function attempt(item: Desired, by: Writing): Promise<Outcome> {
  const { id, object } = item
  const wishes = wishesOf(object)
  if (wishes.apply === 'ignore') return { change: 'skipped', why: 'is left alone, as its manifest asks' }
  const line = by.lineOf(keyOfId(id))
  if (line?.word === 'there' && line.leftAlone) return LEFT_ALONE
  const served = await by.send(item, () => by.kube.resolve(object.apiVersion, id.kind))
  if (!served) throw new Failure('not-found', `the destination serves no kind ${id.kind} in ${object.apiVersion}`)
  const kind = kindOfAny(served)
  const seen = await look(item, kind, wishes, by)

  if (seen && by.taking && seen.metadata.uid !== by.uidOf(keyOfId(id))) assertFree(seen, by.taking)
  if (seen && isAtStake(item, by)) keepPodSecurity(seen, by.owner, by.uidOf(keyOfId(id)) !== seen.metadata.uid)
  if (seen && isLeftAlone(seen)) return LEFT_ALONE
  if (seen && isDeleting(seen)) return beingDeleted(seen)
  const content = seen ? concede(object, seen, by.ignore, managerOf(by.owner)) : object
  const about = { item, kind, content, seen, by }
  if (wishes.apply === 'if-not-present') return makeOnce(about)
  return wishes.apply === 'merge' ? merge(about) : own(about)
}

/** It stays ours: the mark may be taken off again. */
const LEFT_ALONE: Outcome = { change: 'skipped', undone: true, why: 'is left alone, as an annotation in the cluster asks' }

function assertFree(live: AnyObject, taking: Taking): void {
  const objection = taking.objection(live)
  if (objection) throw objection
}

/** Reads the object where what is done depends on what is there. A new object costs no look, nor does one that is watched. */
async function look(item: Desired, kind: Kind<AnyObject>, { apply }: Wishes, by: Writing): Promise<AnyObject | undefined> {
  const key = keyOfId(item.id)
  const isJudged = by.taking !== undefined && by.lineOf(key)?.word !== 'there'
  const isConceded = by.ignore !== undefined && by.ignore.pathsOf(item.object).length > 0
  const isBound = isJudged || isAtStake(item, by) || apply === 'if-not-present' || isConceded
  const isUnknown = by.uidOf(key) !== undefined && by.lineOf(key) === undefined
  if (!isBound && !isUnknown) return undefined
  try {
    return await read({ item, kind, by })
  } catch (failure) {
    // A tenant that may write and not read can still be served, unless the value that is there decides.
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

async function makeOnce({ item, kind, seen, by }: Case): Promise<Outcome> {
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
