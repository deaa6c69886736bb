import type { JsonPatchStep } from '../../../adapters/kube/index.ts'
import { type AnyObject, type Kind, refOf } from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import { keyOfId } from '../../apply/index.ts'
import type { Health } from '../../health/index.ts'
import type { IgnoreRules } from '../fields/ignore.ts'
import { managedEntriesOf } from '../fields/managed-fields.ts'
import type { Entry } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import { type Desired, managerOf } from '../objects/place.ts'
import type { Line } from '../state/object-state.ts'
import type { Standing, Taking } from './take-over.ts'

/** One object about to be written, and what is known of it. */
export interface Case {
  readonly item: Desired
  readonly kind: Kind<AnyObject>
  /** What is sent: the object of the manifest, less what is conceded to others. */
  readonly content: AnyObject
  /** As it is in the cluster, where it was looked at. */
  readonly seen: AnyObject | undefined
  readonly by: Writing
}

export type Outcome = Pick<Entry, 'change' | 'why' | 'undone' | 'uid'>

export const read = ({ item, kind, by }: Pick<Case, 'item' | 'kind' | 'by'>): Promise<AnyObject | undefined> =>
  by.send(item, () => by.kube.get(kind, refOf(item.object), by.signal))

/** `version`: refused with `conflict` when the object has changed since then. */
export const put = (
  { item, kind, by }: Case,
  content: AnyObject,
  { force = false, version }: { force?: boolean; version?: string | undefined } = {},
): Promise<AnyObject> => {
  const bound = version ? { ...content, metadata: { ...content.metadata, resourceVersion: version } } : content
  return by.send(item, () => by.kube.apply(kind, bound, { manager: managerOf(by.owner), ...(force && { force }) }))
}

/** Where the object was not looked at, the book is believed only as long as nothing has happened since. */
export function versionKnown({ item, seen, by }: Case): string | undefined {
  const line = seen ? undefined : by.lineOf(keyOfId(item.id))
  return line?.word === 'there' ? line.version : undefined
}

export const patch = ({ item, kind, by }: Case, steps: JsonPatchStep[]): Promise<AnyObject> =>
  by.send(item, () => by.kube.patch(kind, refOf(item.object), steps, { manager: managerOf(by.owner) }))

/** `before`: as it was, if that was seen; else what the book says counts. */
export function outcomeAfter({ item, by }: Case, written: AnyObject, before: AnyObject | undefined): Outcome {
  const change = changeOf(item, written, before, by)
  by.wrote(item, written)
  return { change, ...uidIn(written) }
}

function changeOf({ id }: Desired, written: AnyObject, seen: AnyObject | undefined, by: Writing): Entry['change'] {
  const key = keyOfId(id)
  const line = by.lineOf(key)
  const version = seen?.metadata.resourceVersion ?? (line?.word === 'there' ? line.version : undefined)
  if (version !== undefined) return version === written.metadata.resourceVersion ? 'unchanged' : 'configured'
  return by.uidOf(key) !== written.metadata.uid && isFresh(written) ? 'created' : 'configured'
}

/** Only its creation has happened to it: one writer, and that at the moment of creation, which may fall between two seconds. */
function isFresh(object: AnyObject): boolean {
  const [only, ...others] = managedEntriesOf(object)
  if (only?.operation !== 'Apply' || others.length > 0) return false
  const age = Date.parse(String(only.raw.time)) - Date.parse(object.metadata.creationTimestamp ?? '')
  return Math.abs(age) <= seconds(1)
}

export const uidIn = ({ metadata: { uid } }: AnyObject): { uid?: string } => (uid === undefined ? {} : { uid })

/** The writing of each object of a set needs to know this. */
export interface Writing extends SyncContext {
  readonly ignore: IgnoreRules | undefined
  /** Whether objects may be deleted and made anew for an immutable field. */
  readonly force: boolean
  /** Whether labels may be taken from namespaces that decide what their pods may do. */
  readonly podSecurityLabels: boolean
  readonly standing: Standing | undefined
  readonly taking: Taking | undefined
  /** The UID that is recorded of it. */
  uidOf(key: string): string | undefined
  /** What is known of it without asking. */
  lineOf(key: string): Line | undefined
  /** One request about it, with patience. */
  send<T>(item: Desired, request: () => Promise<T>): Promise<T>
  wrote(item: Desired, object: AnyObject): void
  healthOf(object: AnyObject | undefined): Health
}
