import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, isDeleting } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import type { Entry } from './change-set.ts'
import { eachOf } from './each.ts'
import type { Held } from './inventory.ts'
import { apiVersionFor, refOfId } from './object-id.ts'
import { kindOfAny } from './observe.ts'
import { inOrder } from './order.ts'
import { OWNER_LABEL } from './place.ts'
import { sentenceAbout } from './sentence.ts'

/** On an object in the cluster: it outlives its manifest. */
export const KEEP_ANNOTATION = 'gitops.berth.dev/prune'
export const KEEP = 'disabled'

const AT_ONCE = 6

export interface Pruning {
  kube: Kube
  owner: string
  /** Namespaces that the tenant still has; an object elsewhere that may no longer be touched is let go. */
  namespaces?: readonly string[] | undefined
  signal?: AbortSignal | undefined
}

/** Deletes what is held, in the reverse of the order in which it was applied. What stays in the way waits for the next time. */
export async function prune(held: readonly Held[], pruning: Pruning): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const group of inOrder(held, ({ id }) => id.kind).reverse()) {
    pruning.signal?.throwIfAborted()
    entries.push(...(await eachOf(group, AT_ONCE, (item) => pruneOne(item, pruning))))
  }
  return entries
}

async function pruneOne({ id, version }: Held, { kube, owner, namespaces, signal }: Pruning): Promise<Entry> {
  try {
    const kind = await kube.resolve(apiVersionFor(id.group, version), id.kind)
    // Its CRD is gone, and so is everything of that kind.
    if (!kind) return { id, change: 'pruned' }
    const live = await kube.get(kindOfAny(kind), refOfId(id), signal)
    if (!live) return { id, change: 'pruned' }
    const kept = reasonToKeep(live, owner)
    if (kept !== undefined) return { id, change: 'skipped', why: kept }
    if (isDeleting(live))
      return { id, change: 'terminating', why: `is being deleted since ${live.metadata.deletionTimestamp}${blockedBy(live)}` }
    // The precondition is what makes this safe: another object of the same name is not ours.
    const { uid } = live.metadata
    await kube.delete(kind, refOfId(id), { uid })
    return { id, change: goesSlowly(live) ? 'terminating' : 'pruned', ...(uid !== undefined && { uid }) }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    const outside = namespaces !== undefined && namespaces.length > 0 && !namespaces.includes(id.namespace ?? '')
    if (outside && isFailure(failure, 'forbidden'))
      return {
        id,
        change: 'skipped',
        why: 'is outside the destination as it is now, and may not be deleted any more; it is left behind',
      }
    return { id, change: 'failed', why: sentenceAbout(id, failure) }
  }
}

/** Only what carries our mark is ours, whatever the inventory remembers. */
function reasonToKeep({ metadata: { labels, annotations } }: AnyObject, owner: string): string | undefined {
  if (labels?.[OWNER_LABEL] !== owner) return 'is not kept by this sync any more'
  if (annotations?.[KEEP_ANNOTATION] === KEEP) return `carries ${KEEP_ANNOTATION}: ${KEEP}`
  return undefined
}

const goesSlowly = ({ kind, metadata }: AnyObject): boolean =>
  (metadata.finalizers?.length ?? 0) > 0 || kind === 'Namespace' || kind === 'Pod'

const blockedBy = ({ metadata: { finalizers = [] } }: AnyObject): string =>
  finalizers.length > 0 ? `, waits for finalizers ${finalizers.join(', ')}` : ''
