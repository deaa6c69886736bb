import { causesOf } from '../../../adapters/kube/index.ts'
import { type AnyObject, isDeleting, type Kind } from '../../../api/index.ts'
import { Failure, isFailure, isRecord } from '../../../std/index.ts'
import { pointerOf, withValueAt } from '../../apply/index.ts'
import { isLeftAlone, withLiveIgnored } from '../fields/ignore.ts'
import { type Wishes, wishesOf } from '../objects/annotations.ts'
import { bare, type Entry, sentenceAbout } from '../objects/change-set.ts'
import { kindOfAny } from '../objects/context.ts'
import { isMadeAnew } from '../objects/hooks.ts'
import { type Desired, managerOf, OWNER_LABEL } from '../objects/place.ts'
import {
  type ObjectWrite,
  type ObjectWriter,
  outcomeAfter,
  patch,
  put,
  read,
  uidIn,
  versionKnown,
  type WriteOutcome,
} from './case.ts'
import { beginHook } from './hook.ts'
import { isOfOlderVersion, moveToVersion } from './migrate.ts'
import { immutable, immutableFieldsIn, isForced, recreate } from './recreate.ts'
import { formerOwner, isAtStake, keepPodSecurity, takingOver } from './take-over.ts'

/** Brings one object about as its manifest wants it. Its failure is its entry. */
export async function writeOne(item: Desired, writer: ObjectWriter): Promise<Entry> {
  const { id, source } = item
  try {
    return { id, source, ...(await outcomeOf(item, asBefore(item, writer))) }
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

/** The watch may tell of our own write before its answer is here, so what it told before the write is kept. */
function asBefore({ key }: Desired, writer: ObjectWriter): ObjectWriter {
  const before = writer.stateOf(key)
  return { ...writer, stateOf: (other) => (other === key ? before : writer.stateOf(other)) }
}

/** A watch is behind by the time that an event takes; an object that has changed meanwhile is looked at. */
async function outcomeOf(item: Desired, writer: ObjectWriter): Promise<WriteOutcome> {
  const { key } = item
  try {
    return await attempt(item, writer)
  } catch (failure) {
    const isStale = isFailure(failure, 'conflict') && writer.stateOf(key)?.presence === 'present'
    if (!isStale && !(isOfOlderVersion(failure) && (await moveToVersion(item, writer)))) throw failure
    return attempt(item, { ...writer, stateOf: (other) => (other === key ? undefined : writer.stateOf(other)) })
  }
}

async function attempt(item: Desired, writer: ObjectWriter): Promise<WriteOutcome> {
  const { id, key, object } = item
  const wishes = wishesOf(object)
  if (wishes.apply === 'ignore') return { change: 'skipped', why: 'is left alone, as its manifest asks' }
  const state = writer.stateOf(key)
  if (state?.presence === 'present' && state.leftAlone) return LEFT_ALONE
  const served = await writer.send(item, () => writer.kube.resolve(object.apiVersion, id.kind))
  if (!served) throw new Failure('not-found', `the destination serves no kind ${id.kind} in ${object.apiVersion}`)
  const kind = kindOfAny(served)
  const run = isMadeAnew(object) ? writer.hookRunOf?.(key) : undefined
  const seen = await (run ? read({ item, kind, writer }) : look(item, kind, wishes, writer))

  const isNew = seen !== undefined && seen.metadata.uid !== writer.uidOf(key)
  const objection = isNew ? writer.takeOver?.objection(seen) : undefined
  if (objection) throw objection
  if (seen && isAtStake(item, writer)) keepPodSecurity(seen, writer.owner, isNew)
  if (seen && isLeftAlone(seen)) return LEFT_ALONE
  if (run) return beginHook({ item, kind, seen, writer }, run)
  if (seen && isDeleting(seen)) return beingDeleted(seen)
  const content = seen ? withLiveIgnored(object, seen, writer.ignore, managerOf(writer.owner)) : object
  const about = { item, kind, content, seen, writer }
  if (wishes.apply === 'if-not-present') return makeOnce(about)
  return wishes.apply === 'merge' ? merge(about) : own(about)
}

/** It stays ours: the annotation may be taken off again. */
const LEFT_ALONE: WriteOutcome = { change: 'skipped', undone: true, why: 'is left alone, as an annotation in the cluster asks' }

/** Reads the object where what is done depends on what is there. A new object costs no look, nor does one that is watched. */
async function look(
  item: Desired,
  kind: Kind<AnyObject>,
  { apply }: Wishes,
  writer: ObjectWriter,
): Promise<AnyObject | undefined> {
  const { key } = item
  const isJudged = writer.takeOver !== undefined && writer.stateOf(key)?.presence !== 'present'
  const hasIgnored = writer.ignore !== undefined && writer.ignore.pathsOf(item.object).length > 0
  const isBound = isJudged || isAtStake(item, writer) || apply === 'if-not-present' || hasIgnored
  const isUnknown = writer.uidOf(key) !== undefined && writer.stateOf(key) === undefined
  if (!isBound && !isUnknown) return undefined
  try {
    return await read({ item, kind, writer })
  } catch (failure) {
    // A tenant that may write and not read can still be served, unless the value that is there decides.
    if (isFailure(failure, 'forbidden') && !isBound) return undefined
    throw failure
  }
}

const beingDeleted = ({ metadata: { deletionTimestamp, finalizers = [], uid } }: AnyObject): WriteOutcome => ({
  change: 'waiting',
  why: `is being deleted since ${deletionTimestamp}${finalizers.length > 0 ? `, waits for finalizers ${finalizers.join(', ')}` : ''}; then it is made anew`,
  ...(uid !== undefined && { uid }),
})

const THERE_ALREADY = 'is there already, and its manifest asks to make it only once'

async function makeOnce({ item, kind, seen, writer }: ObjectWrite): Promise<WriteOutcome> {
  if (seen?.metadata.labels?.[OWNER_LABEL] === writer.owner) return { change: 'unchanged', ...uidIn(seen) }
  if (seen) return { change: 'skipped', why: THERE_ALREADY }
  try {
    const made = await writer.send(item, () => writer.kube.create(kind, item.object, { manager: managerOf(writer.owner) }))
    writer.wrote?.(item, made)
    return { change: 'created', ...uidIn(made) }
  } catch (failure) {
    if (isFailure(failure, 'already-exists')) return { change: 'skipped', why: THERE_ALREADY }
    throw failure
  }
}

/** Our values hold, whoever set others. */
async function own(about: ObjectWrite): Promise<WriteOutcome> {
  const { item, writer } = about
  try {
    const { written, before } = await take(about)
    return outcomeAfter(about, written, before)
  } catch (failure) {
    const fields = immutableFieldsIn(failure)
    if (!fields) throw failure
    if (!isForced(item, writer.force)) throw immutable(fields, failure, item)
    const made = await recreate(about)
    if (!made) return { change: 'waiting', why: `is being deleted to be made anew, for ${fields.join(', ')} cannot be changed` }
    writer.wrote?.(item, made)
    return { change: 'configured', why: `made anew, for ${fields.join(', ')} cannot be changed`, ...uidIn(made) }
  }
}

/** Of two that write at the same moment one is asked to try again; more often somebody means it. */
const TAKE_TRIES = 3

/**
 * An object that is known to be ours is written with force. All others first without: a conflict is how another owner shows
 * itself, at no cost in the ordinary case.
 */
async function take(about: ObjectWrite): Promise<{ written: AnyObject; before: AnyObject | undefined }> {
  const { item, content, seen, writer } = about
  if (isOurs(about)) return { written: await put(about, content, { force: true, version: versionKnown(about) }), before: seen }
  for (let tries = 1; ; tries++) {
    try {
      const written = tries === 1 ? await put(about, content) : undefined
      const before = written ?? (await read(about))
      const former = written ? undefined : formerOwner(item, before, writer.owner, writer.standing)
      const isNew = writer.uidOf(item.key) !== before?.metadata.uid
      const { object: manifest } = item
      const from = { manifest, ignore: writer.ignore, former, predecessors: true, managers: writer.takeOver?.managers }
      const steps = before && (isNew || former !== undefined) ? takingOver(before, writer.owner, from) : undefined
      if (written && !steps) return { written, before: seen }
      // What others may change and is ours from now on would go if it was left out of what is put.
      const taken = steps && (await patch(about, steps))
      const now = taken ? withLiveIgnored(item.object, taken, writer.ignore, managerOf(writer.owner)) : content
      return { written: await put(about, now, { force: true }), before }
    } catch (failure) {
      if (!isFailure(failure, 'conflict') || tries === TAKE_TRIES) throw failure
    }
  }
}

const OWNER_POINTER = pointerOf(['metadata', 'labels', OWNER_LABEL])

function isOurs({ item: { key }, seen, writer }: ObjectWrite): boolean {
  const uid = writer.uidOf(key)
  if (seen) return seen.metadata.labels?.[OWNER_LABEL] === writer.owner && seen.metadata.uid === uid
  const state = writer.stateOf(key)
  return state?.presence === 'present' && state.uid === uid && !state.drift.includes(OWNER_POINTER)
}

/** Each conflict names all fields that are taken; new ones come up only while others write. */
const MERGE_TRIES = 5

/** Never takes a field from anybody: what others hold is left out, and said. */
async function merge(about: ObjectWrite): Promise<WriteOutcome> {
  const { item, writer } = about
  const left: string[] = []
  let object = about.content
  let before = about.seen
  for (let tries = 1; ; tries++) {
    try {
      const written = await put(about, object, { version: tries === 1 ? versionKnown(about) : undefined })
      return { ...outcomeAfter(about, written, before), ...(left.length > 0 && { why: `${left.join(', ')} left to others` }) }
    } catch (failure) {
      const less = isFailure(failure, 'conflict') ? withoutFieldsOfOthers(object, failure) : undefined
      if (!less || tries === MERGE_TRIES) throw failure
      before = await read(about)
      const former = formerOwner(item, before, writer.owner, writer.standing)
      const steps =
        before && former !== undefined
          ? takingOver(before, writer.owner, { manifest: item.object, ignore: writer.ignore, former })
          : undefined
      if (steps) await patch(about, steps)
      else left.push(...less.fields)
      if (!steps) object = less.object
    }
  }
}

/**
 * The object without the fields that others hold, so that it can be applied without taking anything from them.
 * `fields` names them with their managers: `.spec.replicas (hpa)`. `undefined` when the conflict names no field that could be left out.
 */
function withoutFieldsOfOthers(
  object: AnyObject,
  conflict: Failure,
): { object: AnyObject; fields: readonly string[] } | undefined {
  const fields: string[] = []
  let left = object
  for (const { reason, field, message } of causesOf(conflict)) {
    const parts = reason === 'FieldManagerConflict' ? placeOf(left, field) : undefined
    if (!parts) continue
    left = withValueAt(left, parts, undefined)
    fields.push(`${field} (${/conflict with "([^"]*)"/.exec(message)?.[1] ?? 'another manager'})`)
  }
  return fields.length > 0 ? { object: left, fields } : undefined
}

/**
 * The place that the server's own writing means: `.spec.containers[name="web"].image`, `.metadata.finalizers[="x"]`. Names
 * may have dots in them, so the object decides where a name ends.
 * https://pkg.go.dev/sigs.k8s.io/structured-merge-diff/v4/fieldpath#Path.String
 */
function placeOf(object: unknown, path: string): string[] | undefined {
  if (path === '') return []
  if (path.startsWith('.') && isRecord(object)) {
    const rest = path.slice(1)
    const fitting = Object.keys(object).filter((key) => rest.startsWith(key) && /^($|[.[])/.test(rest.slice(key.length)))
    const name = fitting.sort((a, b) => b.length - a.length)[0]
    return name === undefined ? undefined : below(name, object[name], rest.slice(name.length))
  }
  if (!path.startsWith('[') || !Array.isArray(object)) return undefined
  const element = /^\[((?:"(?:\\.|[^"\\])*"|[^\]"])*)\]/.exec(path)
  const index = element ? object.findIndex((item, at) => isMeant(item, at, element[1] ?? '')) : -1
  return element && index >= 0 ? below(String(index), object[index], path.slice(element[0].length)) : undefined
}

function below(part: string, object: unknown, path: string): string[] | undefined {
  const rest = placeOf(object, path)
  return rest && [part, ...rest]
}

/** `name="web",port=80` by keys, `="x"` by value, `0` by place. */
function isMeant(item: unknown, at: number, selector: string): boolean {
  if (selector.startsWith('=')) return JSON.stringify(item) === selector.slice(1)
  if (/^\d+$/.test(selector)) return at === Number(selector)
  const pairs = [...selector.matchAll(/(?:^|,)([^=,]+)=("(?:\\.|[^"\\])*(?:"|$)|[^",][^,]*|)/g)]
  return isRecord(item) && pairs.length > 0 && pairs.every(([, key = '', value]) => agrees(item, key, value))
}

/** A key with a default (`protocol`) may be missing in what we wrote. */
const agrees = (item: Record<string, unknown>, key: string, value: string | undefined): boolean =>
  !(key in item) || JSON.stringify(item[key]) === value
