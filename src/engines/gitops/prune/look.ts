import type { Kube } from '../../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, isDeleting, type Kind } from '../../../api/index.ts'
import { eachOf, Failure, isFailure } from '../../../std/index.ts'
import { idOf, keyOfId, type ObjectId, refOfId } from '../../apply/index.ts'
import { groupsOf, type Held } from '../inventory/inventory.ts'
import { dependenciesOf, waveOf, wishesOf } from '../objects/annotations.ts'
import { eachListed, kindOfAny, type SyncContext } from '../objects/context.ts'
import { OWNER_LABEL } from '../objects/place.ts'
import { kindKey } from '../objects/topological-order.ts'
import type { WatchedObject } from '../state/object-state.ts'
import { FOLLOWERS } from './followers.ts'

export interface Looking extends SyncContext {
  /** Everything that is held, for it says how long a list would be. */
  held: readonly Held[]
  /** As a watch told of the object: then its deletion costs one request. */
  watched?: ((key: string) => WatchedObject | undefined) | undefined
}

/** After which others an object is deleted. */
export interface LeavingTurn {
  /** Objects that must not be deleted before it. */
  readonly needs: readonly ObjectId[]
  /** Those of later waves are deleted before it. */
  readonly wave: number
}

/** How an object that is to go is found. */
export type PruneCandidate =
  | { readonly state: 'gone' }
  /** Not ours to delete. */
  | { readonly state: 'kept'; readonly why: string }
  /** It was deleted before, and something keeps it. */
  | ({ readonly state: 'terminating'; readonly object: AnyObject } & LeavingTurn)
  /** `object` is missing where what a watch told was all that was needed; `version` is the state in which it was judged, and may go. */
  | ({
      readonly state: 'present'
      readonly kind: Kind
      readonly uid: string | undefined
      readonly asksFirst: boolean
      readonly object?: AnyObject
      readonly version?: string
    } & LeavingTurn)
  | { readonly state: 'unreadable'; readonly failure: Failure }

/** Whether these may go depends on what they contain: that a watch or a list names them is not enough. */
const KINDS_NEEDING_BODY = [
  'apiextensions.k8s.io/CustomResourceDefinition',
  '/PersistentVolumeClaim',
  '/PersistentVolume',
  'snapshot.storage.k8s.io/VolumeSnapshot',
  'snapshot.storage.k8s.io/VolumeSnapshotContent',
  ...FOLLOWERS,
]
const needsBody = (of: Pick<ObjectId, 'group' | 'kind'>): boolean => KINDS_NEEDING_BODY.includes(kindKey(of))
const AT_ONCE = 6
const PAGE = 500
/** So many that are missing in a list are looked for one by one. */
const FEW = 10

/** Looks at what is to go, by key: from what the watches saw, by a list where that is cheaper, else one by one. */
export async function look(leaving: readonly Held[], looking: Looking): Promise<Map<string, PruneCandidate>> {
  const candidates = new Map<string, PruneCandidate>()
  for (const group of groupsOf(leaving)) {
    looking.signal?.throwIfAborted()
    const [first] = group
    const kind = first && (await kindOf(first, looking))
    if (kind === undefined || kind instanceof Failure) {
      const candidate: PruneCandidate = kind ? { state: 'unreadable', failure: kind } : { state: 'gone' }
      for (const { key } of group) candidates.set(key, candidate)
    } else await lookAtGroup(group, kind, looking, candidates)
  }
  return candidates
}

const kindOf = (first: Held, { kube }: Looking): Promise<Kind | undefined | Failure> =>
  servedKind(kube, first).catch((thrown: unknown) => Failure.from(thrown))

async function lookAtGroup(
  group: readonly Held[],
  kind: Kind,
  looking: Looking,
  candidates: Map<string, PruneCandidate>,
): Promise<void> {
  const unknown = group.filter(({ id, key }) => {
    const watched = needsBody(id) ? undefined : looking.watched?.(key)
    if (watched && !watched.isTerminating) candidates.set(key, candidateFromWatch(watched, kind))
    return !candidates.has(key)
  })
  const listed = await list(unknown, kind, looking)
  const missing = unknown.filter(({ key }) => {
    const object = listed?.get(key)
    if (object) candidates.set(key, candidateOf(object, kind, looking.owner))
    return !object
  })
  if (listed && missing.length > FEW) {
    const candidate: PruneCandidate = { state: 'kept', why: 'is not there, or not kept by this sync any more' }
    for (const { key } of missing) candidates.set(key, candidate)
  } else await eachOf(missing, AT_ONCE, async (item) => candidates.set(item.key, await lookAt(item, kind, looking)))
}

/** One object as it is now. */
export async function lookAt(held: Held, kind: Kind, looking: Looking): Promise<PruneCandidate> {
  const { kube, owner, signal } = looking
  try {
    return candidateOf(await kube.get(kindOfAny(kind), refOfId(held.id), signal), kind, owner)
  } catch (thrown) {
    signal?.throwIfAborted()
    if (!isFailure(thrown, 'not-found')) return { state: 'unreadable', failure: Failure.from(thrown) }
    // The kind is not served so any more; in another version it may be.
    const now = await kindOf(held, looking)
    if (now instanceof Failure) return { state: 'unreadable', failure: now }
    return now && now.version !== kind.version ? lookAt(held, now, looking) : { state: 'gone' }
  }
}

/** Those of them that carry our label; `undefined` where it does not pay or is not allowed. */
async function list(group: readonly Held[], kind: Kind, looking: Looking): Promise<Map<string, AnyObject> | undefined> {
  const [first] = group
  if (!first || needsBody(first.id) || group.length <= 2 + pagesOf(first, looking.held)) return undefined
  const { kube, owner, signal } = looking
  const query = { namespace: first.id.namespace, labels: `${OWNER_LABEL}=${owner}`, metadataOnly: true }
  const asked = new Set(group.map(({ key }) => key))
  const found = new Map<string, AnyObject>()
  try {
    await eachListed(kube, { kind: kindOfAny(kind), query, signal }, (object) => {
      const key = keyOfId(idOf(object))
      if (asked.has(key)) found.set(key, object)
    })
    return found
  } catch {
    signal?.throwIfAborted()
    // Where a list fails, the single object says why, to the user too.
    return undefined
  }
}

function pagesOf({ id: { group, kind, namespace } }: Held, held: readonly Held[]): number {
  const same = held.filter(({ id }) => id.kind === kind && id.group === group && id.namespace === namespace)
  return Math.ceil(same.length / PAGE)
}

/** Only what carries our label is ours, whatever the inventory remembers. */
function candidateOf(object: AnyObject | undefined, kind: Kind, owner: string): PruneCandidate {
  if (!object) return { state: 'gone' }
  const { labels, uid, resourceVersion } = object.metadata
  if (labels?.[OWNER_LABEL] !== owner) return { state: 'kept', why: 'is not kept by this sync any more' }
  const { prune, apply } = wishesOf(object)
  if (prune === 'disabled' || apply === 'ignore') return KEPT
  const turn: LeavingTurn = { needs: dependenciesOf(object).ids, wave: waveOf(object) }
  if (isDeleting(object)) return { state: 'terminating', object, ...turn }
  const version = needsBody(kind) ? resourceVersion : undefined
  return { state: 'present', kind, uid, asksFirst: prune === 'confirm', ...turn, object, ...(version && { version }) }
}

const candidateFromWatch = ({ uid, version, prune, needs = [], wave = 0 }: WatchedObject, kind: Kind): PruneCandidate =>
  prune === 'disabled' ? KEPT : { state: 'present', kind, uid, asksFirst: prune === 'confirm', needs, wave, version }

const KEPT: PruneCandidate = { state: 'kept', why: 'is annotated to stay when it leaves the repository' }

/**
 * Where an object that is held stands in the API today: in the version in which it was written, or in another one that is
 * served. `undefined`: the kind is gone, and so is everything of it.
 */
export async function servedKind(kube: Kube, { id: { group, kind }, version }: Held): Promise<Kind | undefined> {
  const asWritten = await kube.resolve(apiVersionOf({ group, version }), kind)
  if (asWritten || group === '') return asWritten
  for (const other of await versionsOf(kube, group)) {
    const found = other === version ? undefined : await kube.resolve(apiVersionOf({ group, version: other }), kind)
    if (found) return found
  }
  return undefined
}

async function versionsOf(kube: Kube, group: string): Promise<string[]> {
  try {
    return (await kube.read<{ versions: { version: string }[] }>(`/apis/${group}`)).versions.map(({ version }) => version)
  } catch (failure) {
    if (isFailure(failure, 'not-found')) return []
    throw failure
  }
}
