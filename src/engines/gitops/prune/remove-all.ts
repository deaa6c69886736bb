import type { DeleteHow, JsonPatchStep, Kube } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind, Ref } from '../../../api/index.ts'
import { type Clock, eachOf, Failure, isFailure, seconds } from '../../../std/index.ts'
import { refOfId } from '../../apply/index.ts'
import { exact, type Held, type Inventory, type InventoryStore, loadFor } from '../inventory/inventory.ts'
import { type Entry, sentenceAbout } from '../objects/change-set.ts'
import { kindOfAny, type SyncContext } from '../objects/context.ts'
import { type Destination, OWNER_ANNOTATION, OWNER_LABEL, type Owner } from '../objects/place.ts'
import { servedKind } from './look.ts'
import { prune, settledByLooking } from './prune.ts'

interface RemovalRequest {
  destination: Destination
  owner: Owner
  inventory: InventoryStore
  /** Whether the objects stay, and belong to no sync any more. */
  isReleased?: boolean
  /** Objects of others that would be lost with ours may be deleted too. */
  confirmed?: boolean
  propagation?: DeleteHow['propagation']
  /** The sync that may take an object over at this moment: until it has, or may no more, the object is not deleted. */
  successorOf?: ((held: Held) => string | undefined) | undefined
}

interface Removal {
  entries: readonly Entry[]
  held: readonly Held[]
  /** Objects of an earlier destination that nobody can reach from here. */
  leftBehind: readonly Held[]
}

const AT_ONCE = 6
/** Then the rest waits for the next time, so that what was done is written down. */
const BUDGET = seconds(60)

/**
 * Deletes everything that is held, in reverse order, as far as it goes at once; or takes our label off it and lets it stay, so that
 * the next sync of these objects finds them without an owner. Called again until nothing is held.
 */
export async function removeAll(request: RemovalRequest, clock: Clock, signal?: AbortSignal): Promise<Removal> {
  const { destination, owner, inventory: store, isReleased } = request
  const { inventory, leftBehind } = await loadFor(destination.kube.server, store)
  const context = { kube: destination.kube, clock, owner: owner.id, signal }
  const entries = await (isReleased ? releaseAll(inventory.held, context) : deleteAll(inventory.held, request, context))
  return { entries, held: await remember(store, inventory, exact(inventory.held, [], entries)), leftBehind }
}

async function deleteAll(held: readonly Held[], request: RemovalRequest, context: SyncContext): Promise<Entry[]> {
  const { destination, confirmed, propagation } = request
  const handed = await handOver(request, held, context)
  const leaving = held.filter(({ id }) => !handed.some((entry) => entry.id === id))
  return [...handed, ...(await prune(leaving, { ...context, held, limits: destination, confirmed, propagation }))]
}

/** An object that another sync wants is waited for until it carries its label: that sync may fail to take it. */
async function handOver({ successorOf }: RemovalRequest, held: readonly Held[], context: SyncContext): Promise<Entry[]> {
  const offered = new Map(held.map((item) => [item, successorOf?.(item)] as const).filter(([, to]) => to !== undefined))
  if (offered.size === 0) return []
  const settled = await settledByLooking([...offered.keys()], { ...context, held })
  return [...offered].map(
    ([{ id }, to]) => settled.find((entry) => entry.id === id) ?? { id, change: 'waiting', why: `is taken over by ${to}` },
  )
}

function releaseAll(held: readonly Held[], { kube, clock, owner, signal }: SyncContext): Promise<Entry[]> {
  const until = clock.now() + BUDGET
  return eachOf(held, AT_ONCE, async (item): Promise<Entry> => {
    signal?.throwIfAborted()
    if (clock.now() >= until) return { id: item.id, change: 'waiting', why: 'has its turn at the next reconcile' }
    return releaseOne(item, kube, owner)
  })
}

/** Where the own namespace is on its way out the inventory may be gone or closed: then all is looked at again the next time. */
async function remember(
  store: InventoryStore,
  { server, held: before }: Inventory,
  held: readonly Held[],
): Promise<readonly Held[]> {
  if (held.length === before.length) return held
  try {
    await store.save({ server, held })
  } catch (failure) {
    if (!isFailure(failure, 'not-found', 'forbidden')) throw failure
  }
  return held
}

async function releaseOne(held: Held, kube: Kube, owner: string): Promise<Entry> {
  const { id } = held
  try {
    const found = await servedKind(kube, held)
    if (found && !(await removeOwnerLabel(kube, kindOfAny(found), refOfId(id), owner)))
      return { id, change: 'skipped', why: 'is not kept by this sync any more' }
    return { id, change: 'skipped', why: 'is released: it belongs to no sync any more' }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (isFailure(failure, 'not-found')) return { id, change: 'skipped', why: 'is not there any more' }
    return { id, change: 'failed', why: sentenceAbout(id, failure), failure }
  }
}

/** In one request, and only if it is still ours; where the label or the annotation is missing, in three. */
async function removeOwnerLabel(kube: Kube, kind: Kind<AnyObject>, ref: Ref, owner: string): Promise<boolean> {
  try {
    await kube.patch(kind, ref, withoutOwnerLabel(owner))
    return true
  } catch (failure) {
    if (!isFailure(failure, 'invalid')) throw failure
    const live = await kube.get(kind, ref)
    if (live?.metadata.labels?.[OWNER_LABEL] !== owner) return false
    const metadata = { labels: { [OWNER_LABEL]: null }, annotations: { [OWNER_ANNOTATION]: null } }
    await kube.patch(kind, ref, { metadata: { ...metadata, resourceVersion: live.metadata.resourceVersion } })
    return true
  }
}

const LABEL = `/metadata/labels/${OWNER_LABEL.replace('/', '~1')}`
const ANNOTATION = `/metadata/annotations/${OWNER_ANNOTATION.replace('/', '~1')}`

const withoutOwnerLabel = (owner: string): JsonPatchStep[] => [
  { op: 'test', path: LABEL, value: owner },
  { op: 'remove', path: LABEL },
  { op: 'remove', path: ANNOTATION },
]
