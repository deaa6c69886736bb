import type { JsonPatchStep } from '../../../adapters/kube/index.ts'
import { type AnyObject, type Kind, refOf } from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import type { Health } from '../../health/index.ts'
import type { IgnoreRules } from '../fields/ignore.ts'
import { managedEntriesOf } from '../fields/managed-fields.ts'
import type { Entry } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import type { HookRun } from '../objects/hook-runs.ts'
import { type Desired, managerOf } from '../objects/place.ts'
import type { ObjectState } from '../state/object-state.ts'
import type { Standing, TakeOverRules } from './take-over.ts'

/** One object about to be written, and what is known of it. */
export interface ObjectWrite {
  readonly item: Desired
  readonly kind: Kind<AnyObject>
  /** The object of the manifest, less the fields that are left to others. */
  readonly content: AnyObject
  /** As it is in the cluster, where it was looked at. */
  readonly seen: AnyObject | undefined
  readonly writer: ObjectWriter
}

export type WriteOutcome = Pick<Entry, 'change' | 'why' | 'undone' | 'uid'>

export const read = ({ item, kind, writer }: Pick<ObjectWrite, 'item' | 'kind' | 'writer'>): Promise<AnyObject | undefined> =>
  writer.send(item, () => writer.kube.get(kind, refOf(item.object), writer.signal))

/** `version`: refused with `conflict` when the object has changed since then. */
export const put = (
  { item, kind, writer }: Pick<ObjectWrite, 'item' | 'kind' | 'writer'>,
  content: AnyObject,
  { force = false, version }: { force?: boolean; version?: string | undefined } = {},
): Promise<AnyObject> => {
  const bound = version ? { ...content, metadata: { ...content.metadata, resourceVersion: version } } : content
  return writer.send(item, () => writer.kube.apply(kind, bound, { manager: managerOf(writer.owner), ...(force && { force }) }))
}

/** Where the object was not looked at, the watch is believed only as long as nothing has happened since. */
export function versionKnown({ item, seen, writer }: ObjectWrite): string | undefined {
  const state = seen ? undefined : writer.stateOf(item.key)
  return state?.presence === 'present' ? state.version : undefined
}

export const patch = (
  { item, kind, writer }: Pick<ObjectWrite, 'item' | 'kind' | 'writer'>,
  steps: JsonPatchStep[],
): Promise<AnyObject> =>
  writer.send(item, () => writer.kube.patch(kind, refOf(item.object), steps, { manager: managerOf(writer.owner) }))

/** `before`: as it was, if that was seen; else what the watch told counts. */
export function outcomeAfter({ item, writer }: ObjectWrite, written: AnyObject, before: AnyObject | undefined): WriteOutcome {
  const change = changeOf(item, written, before, writer)
  writer.wrote?.(item, written)
  return { change, ...uidIn(written) }
}

function changeOf({ key }: Desired, written: AnyObject, seen: AnyObject | undefined, writer: ObjectWriter): Entry['change'] {
  const state = writer.stateOf(key)
  const version = seen?.metadata.resourceVersion ?? (state?.presence === 'present' ? state.version : undefined)
  if (version !== undefined) return version === written.metadata.resourceVersion ? 'unchanged' : 'configured'
  return writer.uidOf(key) !== written.metadata.uid && isFresh(written) ? 'created' : 'configured'
}

/** Only its creation has happened to it: one writer, and that at the moment of creation, which may fall between two seconds. */
function isFresh(object: AnyObject): boolean {
  const [only, ...others] = managedEntriesOf(object)
  if (only?.operation !== 'Apply' || others.length > 0) return false
  const age = Date.parse(String(only.raw.time)) - Date.parse(object.metadata.creationTimestamp ?? '')
  return Math.abs(age) <= seconds(1)
}

export const uidIn = ({ metadata: { uid } }: AnyObject): { uid?: string } => (uid === undefined ? {} : { uid })

/** The settings of a sync for the writing of each of its objects. */
export interface ApplySettings extends SyncContext {
  /** Fields that others may change. */
  ignore?: IgnoreRules | undefined
  /** Whether objects are deleted and made anew when a field that cannot be changed has changed. */
  force?: boolean | undefined
  /** Whether labels may be taken from namespaces that decide what their pods may do. */
  podSecurityLabels?: boolean | undefined
  /** Whether another sync whose owner label an object carries still wants it. */
  standing?: Standing | undefined
  takeOver?: TakeOverRules | undefined
  /** Tells of which run an object is that is a hook. */
  hookRunOf?: ((key: string) => HookRun | undefined) | undefined
  /** Called with the answer to each write. */
  wrote?: ((item: Desired, object: AnyObject) => void) | undefined
  /** How a dependency does, where no watch tells; by the rules of its kind without it. */
  healthOf?: ((object: AnyObject | undefined) => Health) | undefined
}

/** The same, with what is known of the single objects of the set. */
export interface ObjectWriter extends ApplySettings {
  /** The UID that is recorded of it. */
  uidOf(key: string): string | undefined
  /** As a watch told of it last, without a request. */
  stateOf(key: string): ObjectState | undefined
  /** Sends one request about it, again when the server asks for that. */
  send<T>(item: Desired, request: () => Promise<T>): Promise<T>
}
