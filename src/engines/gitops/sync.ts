import type { Clock } from '../../std/index.ts'
import { Failure } from '../../std/index.ts'
import { apply } from './apply.ts'
import { type Entry, entriesOf } from './change-set.ts'
import { healthOf } from './health/health.ts'
import { type Health, type HealthStatus, worse } from './health/verdict.ts'
import { exact, type Held, type Inventory, type InventoryStore, loadFor, superset } from './inventory.ts'
import { keyOfId, type ObjectId, sayId } from './object-id.ts'
import { observe } from './observe.ts'
import { type Desired, type Destination, type Owner, place } from './place.ts'
import { isUnreadable, type Live, type Plan, planOf } from './plan.ts'
import { prune } from './prune.ts'
import type { Render } from './render.ts'
import type { Snapshot } from './source.ts'
import { type Variables, withVariables } from './variables.ts'

export interface SyncRequest {
  snapshot: Snapshot
  /** Directory in the repository. */
  path: string
  destination: Destination
  owner: Owner
  inventory: InventoryStore
  /** Compare with the cluster, not only with what is recorded. */
  compare?: boolean
  /** Delete what left the repository; otherwise it is let go. */
  prune?: boolean
  /** Put into what was rendered. */
  variables?: Variables | undefined
}

export interface SyncResult {
  commitId: string
  /** Every object of the sync and what was done with it. */
  entries: readonly Entry[]
  /** What is held now. */
  inventory: Inventory
  /** Objects of an earlier destination that nobody holds any more. */
  leftBehind: readonly Held[]
  /** As they were when the sync began, if it compared. */
  live: Live | undefined
}

export interface Tools {
  render: Render
  clock: Clock
}

/** Brings a destination to where a commit says it should be: render, place, plan, apply, prune, and remember. */
export async function sync(request: SyncRequest, { render, clock }: Tools, signal?: AbortSignal): Promise<SyncResult> {
  const { snapshot, path, destination, owner } = request
  const { kube } = destination
  const manifests = withVariables(await render(snapshot, path, signal), request.variables)
  const { desired, refused } = await place(manifests, destination, owner)
  const { inventory, leftBehind } = await loadFor(request.destination.kube.server, request.inventory)
  const live = request.compare ? await observe(kube, inventory.held, owner.id, signal) : undefined
  const plan = planOf(desired, spared(inventory.held, refused), live)
  refuseEmptiness(manifests.length, plan)

  if (plan.apply.length > 0) await save(request, inventory, superset(inventory.held, plan.apply))
  const applied = await apply(plan.apply, { kube, clock, owner: owner.id, held: inventory.held, live, signal })
  const failed = [...refused, ...entriesOf(applied, 'failed')]
  const pruned = await pruneWhatLeft(request, plan, failed.length, signal)

  const entries = [...refused, ...plan.unchanged.map(unchanged), ...applied, ...pruned]
  const held = exact(superset(inventory.held, plan.apply), desired, entries)
  const after =
    held.length === inventory.held.length && plan.apply.length === 0 && pruned.length === 0
      ? inventory
      : await save(request, inventory, held)
  return { commitId: snapshot.commitId, entries, inventory: after, leftBehind, live }
}

/** Removes everything that is held, in reverse order. Empty means: all is gone. */
export async function removeAll(
  request: Omit<SyncRequest, 'snapshot' | 'path'>,
  signal?: AbortSignal,
): Promise<readonly Entry[]> {
  const { inventory } = await loadFor(request.destination.kube.server, request.inventory)
  if (inventory.held.length === 0) return []
  const { kube, namespaces } = request.destination
  const entries = await prune(inventory.held, { kube, owner: request.owner.id, namespaces, signal })
  const held = exact(inventory.held, [], entries)
  await save(request, inventory, held)
  return held.length === 0 ? [] : entries
}

export interface Observed {
  health: Health
  objects: { id: ObjectId; version: string; health: Health }[]
}

/** How everything that is held does. */
export function healthOfAll(held: readonly Held[], live: Live, now: number): Observed {
  const objects = held.map(({ id, version }) => ({ id, version, health: healthSeen(live.get(keyOfId(id)), now) }))
  const status = objects.reduce<HealthStatus>((worst, { health }) => worse(worst, health.status), 'Healthy')
  const culprit = objects.find(({ health }) => health.status === status && health.message !== undefined)
  return { health: { status, ...(culprit && { message: `${sayId(culprit.id)} ${culprit.health.message}` }) }, objects }
}

const healthSeen = (seen: ReturnType<Live['get']>, now: number): Health =>
  isUnreadable(seen) ? { status: 'Unknown', message: seen.unreadable } : healthOf(seen, now)

async function save(
  { inventory: store }: Pick<SyncRequest, 'inventory'>,
  { server }: Inventory,
  held: readonly Held[],
): Promise<Inventory> {
  const inventory = { server, held }
  await store.save(inventory)
  return inventory
}

/** What is in the repository but may not be applied is not what left the repository. */
function spared(held: readonly Held[], refused: readonly Entry[]): Held[] {
  const keys = new Set(refused.map(({ id }) => keyOfId(id)))
  return held.filter(({ id }) => !keys.has(keyOfId(id)))
}

/** A wrong path and a failing generator look like this; who means it deletes the sync. */
function refuseEmptiness(rendered: number, plan: Plan): void {
  if (rendered > 0 || plan.prune.length === 0) return
  throw new Failure('invalid', `the path describes no object any more; the ${plan.prune.length} objects that are there stay`, {
    reason: 'NothingRendered',
    remedy: 'Correct the path, or delete the deployment with its finalizer set to remove the objects.',
  })
}

async function pruneWhatLeft(
  { destination, owner, prune: allowed = true }: SyncRequest,
  plan: Plan,
  failures: number,
  signal?: AbortSignal,
): Promise<Entry[]> {
  if (!allowed)
    return plan.prune.map(({ id }) => ({ id, change: 'skipped', why: 'left the repository; pruning is off, so it stays' }))
  // The new revision may need what the old one brings along, until it is in effect as a whole.
  if (failures > 0) return []
  return prune(plan.prune, { kube: destination.kube, owner: owner.id, namespaces: destination.namespaces, signal })
}

const unchanged = ({ id, source }: Desired): Entry => ({ id, change: 'unchanged', source })
