import { type AnyObject, type Kind, refOf } from '../../../api/index.ts'
import { eachOf, Failure, isFailure, isRecord } from '../../../std/index.ts'
import { type ObjectId, pointerOf } from '../../apply/index.ts'
import { immutable, immutableFieldsIn, isForced } from '../apply/recreate.ts'
import {
  asAfterTakeOver,
  asTaken,
  formerOwner,
  isAtStake,
  keepPodSecurity,
  standingBy,
  type TakeOverRules,
} from '../apply/take-over.ts'
import { type IgnoreRules, isLeftAlone, withLiveIgnored } from '../fields/ignore.ts'
import { inside } from '../fields/path-tree.ts'
import { wishesOf } from '../objects/annotations.ts'
import { sentenceAbout } from '../objects/change-set.ts'
import { kindOfAny, type SyncContext } from '../objects/context.ts'
import { type Desired, managerOf, OWNER_ANNOTATION, OWNER_LABEL } from '../objects/place.ts'
import { stepsBetween } from './steps.ts'

/** One field that would change. What is not there is `undefined`. */
export interface FieldChange {
  /** JSON pointer; an element of a list by its place in the new object, or in the old one if it would go. */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

/** Tells what applying one object would do. */
export interface Difference {
  readonly id: ObjectId
  /** absent: it would be made. refused: the server would not take it, see `why`. */
  readonly would: 'create' | 'change' | 'nothing' | 'refused'
  readonly fields: readonly FieldChange[]
  readonly why?: string
  readonly source: string
}

interface Comparing extends SyncContext {
  ignore?: IgnoreRules | undefined
  /** Whether objects are made anew for a field that cannot be changed. */
  force?: boolean | undefined
  /** Whether a sync is there whose owner label an object carries. */
  knows?: ((otherOwner: string) => boolean) | undefined
  takeOver?: TakeOverRules | undefined
  /** Whether the labels by which a namespace lets its pods be checked may change. */
  podSecurityLabels?: boolean | undefined
  /** The UID that is recorded of it. */
  uidOf(key: string): string | undefined
}

const AT_ONCE = 16

/** Tries on the server, by a dry run, what a sync would do with these objects: its defaults and webhooks have their say. */
export function differencesOf(desired: readonly Desired[], comparing: Comparing): Promise<Difference[]> {
  return eachOf(desired, AT_ONCE, (item) => differenceOf(item, comparing))
}

async function differenceOf(item: Desired, comparing: Comparing): Promise<Difference> {
  const { id, object, source } = item
  try {
    if (wishesOf(object).apply === 'ignore') return { id, would: 'nothing', fields: [], source }
    const served = await comparing.kube.resolve(object.apiVersion, id.kind)
    // Its CRD comes with the same commit, or place.ts would have refused it.
    if (!served) return { id, would: 'create', fields: fieldChanges(undefined, object), source }
    return { id, source, ...(await tryOut(item, kindOfAny(served), comparing)) }
  } catch (thrown) {
    return { id, source, ...afterRefusal(item, Failure.from(thrown), comparing) }
  }
}

type Outcome = Pick<Difference, 'would' | 'fields' | 'why'>

async function tryOut(item: Desired, kind: Kind<AnyObject>, comparing: Comparing): Promise<Outcome> {
  const { object, key } = item
  const { kube, owner, ignore, knows, takeOver, signal } = comparing
  const wish = wishesOf(object).apply
  const live = await kube.get(kind, refOf(object), signal)
  const isNew = live !== undefined && live.metadata.uid !== comparing.uidOf(key)
  const objection = isNew ? takeOver?.objection(live) : undefined
  if (objection) throw objection
  if (live && isAtStake(item, comparing)) keepPodSecurity(live, owner, isNew)
  if (live && (wish === 'if-not-present' || isLeftAlone(live))) return { would: 'nothing', fields: [] }
  // Whether another sync gives an object up is known only when it has looked at the commit.
  const standing = standingBy(takeOver, (uid) => (knows?.(uid) ? 'releases' : 'unknown'))
  const former = formerOwner(item, live, owner, standing)
  const isTaken = former !== undefined || (isNew && wish !== 'merge')
  const all = isTaken && wish !== 'merge' ? { predecessors: true, managers: takeOver?.managers } : {}
  const from = { manifest: object, ignore, former, ...all }
  const content = live ? withLiveIgnored(object, asTaken(live, owner, from), ignore, managerOf(owner)) : object
  const force = isTaken || wish !== 'merge'
  const applied = await kube.apply(kind, content, { manager: managerOf(owner), force, dryRun: true })
  if (!live) return { would: 'create', fields: fieldChanges(undefined, applied) }
  const left = asAfterTakeOver(applied, owner, from)
  const fields = fieldChanges(live, await afterTakeOver(kind, { live, applied, left }, comparing))
  if (former === undefined || takeOver?.fromOthers) return { would: fields.length > 0 ? 'change' : 'nothing', fields }
  const otherOwner = live.metadata.annotations?.[OWNER_ANNOTATION] ?? 'another sync'
  return { would: 'change', fields, why: `is kept by ${otherOwner} now, and taken over when that one gives it up` }
}

/**
 * Fields go in the apply after a take-over, and dry runs do not follow one another: so the server is asked what would be there without
 * them, for it has defaults for some.
 */
async function afterTakeOver(
  kind: Kind<AnyObject>,
  { live, applied, left }: Record<'live' | 'applied' | 'left', AnyObject>,
  { kube, owner }: Comparing,
): Promise<AnyObject> {
  if (left === applied || stepsBetween(contentOf(applied), contentOf(left)).length === 0) return applied
  const steps = stepsBetween(contentOf(live), contentOf(left))
  return steps.length > 0 ? kube.patch(kind, refOf(live), steps, { manager: managerOf(owner), dryRun: true }) : live
}

function afterRefusal(item: Desired, failure: Failure, { force }: Comparing): Outcome {
  const { id, object } = item
  // A dry run creates no namespace for the objects in it.
  if (isFailure(failure, 'not-found')) return { would: 'create', fields: fieldChanges(undefined, object) }
  const fixed = immutableFieldsIn(failure)
  if (!fixed) return { would: 'refused', fields: [], why: sentenceAbout(id, failure) }
  if (!isForced(item, force)) return { would: 'refused', fields: [], why: sentenceAbout(id, immutable(fixed, failure, item)) }
  return { would: 'change', fields: [], why: `is deleted and made anew, for ${fixed.join(', ')} cannot be changed` }
}

/** Metadata that the server keeps by itself. */
const BOOKKEEPING = ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink']
/** A copy of the whole object, values of Secrets included. */
const COPIES = ['kubectl.kubernetes.io/last-applied-configuration']

/** Pure. Field by field, without the status; what may be secret is told to differ and not shown. */
export function fieldChanges(from: AnyObject | undefined, to: AnyObject | undefined): FieldChange[] {
  const changes: FieldChange[] = []
  const isSecret = [from, to].some((object) => object?.kind === 'Secret' && object.apiVersion === 'v1')
  compare(from && comparable(from), to && comparable(to), [], changes)
  return changes.map((change) => (isSecret || isCopy(change) ? masked(change) : change))
}

function contentOf(object: AnyObject): Record<string, unknown> & { metadata: Record<string, unknown> } {
  const { status: _, metadata, apiVersion: __, kind: ___, ...rest } = object
  const kept = Object.entries(metadata).filter(([name]) => !BOOKKEEPING.includes(name))
  return { ...rest, metadata: Object.fromEntries(kept) }
}

function comparable(object: AnyObject): Record<string, unknown> {
  const { metadata, ...rest } = contentOf(object)
  return { metadata: withoutMarks(metadata), ...rest }
}

function withoutMarks(metadata: Record<string, unknown>): Record<string, unknown> {
  const without = (name: string, mark: string) => {
    const { [mark]: _, ...rest } = isRecord(metadata[name]) ? metadata[name] : {}
    return { [name]: Object.keys(rest).length > 0 ? rest : undefined }
  }
  return { ...metadata, ...without('labels', OWNER_LABEL), ...without('annotations', OWNER_ANNOTATION) }
}

function compare(from: unknown, to: unknown, at: readonly (string | number)[], changes: FieldChange[]): void {
  if (isRecord(from) && isRecord(to)) {
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)]))
      compare(inside(from, name), inside(to, name), [...at, name], changes)
  } else if (Array.isArray(from) && Array.isArray(to)) compareLists(from, to, at, changes)
  else if (!isSame(from, to)) spread(from, to, at, changes)
}

/** A value that comes or goes as a whole is told leaf by leaf too: a masked value must not hide in a larger one. */
function spread(from: unknown, to: unknown, at: readonly (string | number)[], changes: FieldChange[]): void {
  const whole = from === undefined ? to : to === undefined ? from : undefined
  const content = isRecord(whole) || Array.isArray(whole) ? Object.entries(whole) : []
  if (content.length === 0) changes.push({ path: pointerOf(at), from, to })
  for (const [name, value] of content) {
    const [was, will] = from === undefined ? [undefined, value] : [value, undefined]
    compare(was, will, [...at, name], changes)
  }
}

/** Elements with names are told apart by them: one that is put in before the others does not change them. */
function compareLists(from: unknown[], to: unknown[], at: readonly (string | number)[], changes: FieldChange[]): void {
  const [before, after] = [byName(from), byName(to)]
  if (!before || !after) {
    for (let index = 0; index < Math.max(from.length, to.length); index++)
      compare(from[index], to[index], [...at, index], changes)
    return
  }
  for (const [index, [name, element]] of [...after].entries()) compare(before.get(name), element, [...at, index], changes)
  for (const [index, [name, element]] of [...before].entries())
    if (!after.has(name)) compare(element, undefined, [...at, index], changes)
}

function byName(list: readonly unknown[]): Map<string, unknown> | undefined {
  const named = list.map((element): [string, unknown] | undefined =>
    isRecord(element) && typeof element.name === 'string' ? [element.name, element] : undefined,
  )
  const map = new Map(named.filter((entry) => entry !== undefined))
  return map.size === list.length ? map : undefined
}

const isSame = (from: unknown, to: unknown): boolean => from === to || JSON.stringify(from) === JSON.stringify(to)

const isCopy = ({ path }: FieldChange): boolean => COPIES.some((name) => path === pointerOf(['metadata', 'annotations', name]))

/** That they differ is told by there being a change at all. */
function masked(change: FieldChange): FieldChange {
  if (!isCopy(change) && !/^\/(data|stringData)(\/|$)/.test(change.path)) return change
  const { path, from, to } = change
  return { path, from: from === undefined ? undefined : '***', to: to === undefined ? undefined : '***' }
}
