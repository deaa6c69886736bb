import type { EventRecorder } from '../../../adapters/kube/index.ts'
import { conditionOf, type GitOpsDeployment, keyOf, type Ref, refOf, type Statement } from '../../../api/index.ts'
import { keyOfId, sayIds } from '../../../engines/apply/index.ts'
import { again, type Next, type StatusDraft, settled } from '../../../engines/controller/index.ts'
import {
  type Destination,
  type Entry,
  entriesOf,
  type Held,
  type Inventory,
  type InventoryStore,
  OWNER_LABEL,
  removeAll,
  sayEntries,
} from '../../../engines/gitops/index.ts'
import { type Clock, Failure, isFailure, minutes, seconds } from '../../../std/index.ts'
import { inventoryInStatus, inventoryName, inventoryOf, ownerOf, type SyncServices } from '../services/services.ts'
import { destinationOf } from '../services/targets.ts'
import { tellChanges, tellLeftBehind, tellReleased } from '../status/events.ts'
import { isConfirmed } from '../status/requests.ts'
import { type DeletionPolicy, dropFinalizers, hasOurFinalizer, policyOf } from './deletion-policy.ts'

type RemovalRequest = Parameters<typeof removeAll>[0]
type Removal = Awaited<ReturnType<typeof removeAll>>

/** How long a deployment is held by objects to which no way leads, that may not be deleted any more, or that cannot be for now. */
const WITHOUT_DESTINATION = seconds(30)
const WITHOUT_RIGHTS = seconds(30)
const OTHERWISE = minutes(5)
/** Watches ring when an object is gone; where there are none, it is asked ever more seldom. */
const SOONEST = seconds(0.3)
const LATEST = seconds(30)

/** Since when nothing moves on, told by the time of the condition: a restart forgets nothing. */
const BLOCKED = 'DeletionBlocked'

/**
 * By its policy the objects are deleted, deleted and waited for, or released. A deletion never hangs for long on what is gone
 * (credentials, rights, the environment): then the objects stay, and an Event and the status say which.
 */
export async function remove(deployment: GitOpsDeployment, services: SyncServices, signal: AbortSignal): Promise<Next> {
  services.following.end(refOf(deployment))
  // Nobody waits for us: then what stays is released when the deployment is gone.
  if (!hasOurFinalizer(deployment)) return settled()

  // Only to hide them in what is told; where they are gone already, the deletion goes on.
  await services.variables.learn(deployment)
  const inventory = await loadableInventory(deployment, services)
  const destination = destinationOrFailure(deployment, services)
  if (destination instanceof Failure)
    return waitForDestination(deployment, (await inventory.load())?.held ?? [], destination, services)

  const policy = policyOf(deployment)
  const request = requestOf(deployment, destination, inventory, services)
  // A sync that wants one of the objects is told now, and takes it over before it is deleted.
  services.wants.leave(request.owner.id)
  const removal = await removeAll({ ...request, isReleased: policy === 'Orphan' }, services.context.clock, signal)
  tellProgress(policy, deployment, removal, services.context.events)
  const blocked = entriesOf(removal.entries, 'failed')
  if (!isOver(policy, removal) && !isOverdue(deployment, blocked, services.context.clock))
    return retryLater(deployment, removal, services.context.clock)
  await releaseWithheld(removal, request, services.context.clock, signal)
  return finish(deployment, removal, services)
}

/** A Secret that is replaced is gone for a moment, and so is an environment that is made anew: the watches ring. */
function waitForDestination(
  deployment: GitOpsDeployment,
  held: readonly Held[],
  { message }: Failure,
  services: SyncServices,
): Promise<Next> | Next {
  services.caches.requireWhole(deployment.metadata.namespace ?? '')
  const isWorthWaiting = held.length > 0 && blockedFor('Unknown', deployment, services.context.clock) < WITHOUT_DESTINATION
  if (!isWorthWaiting) return finishWith(deployment, services, held, message)
  return again({
    after: patienceOf(deployment, services.context.clock),
    why: 'no way leads to the objects',
    status: statusOf(deployment, [
      { type: 'Ready', status: 'False', reason: 'Deleting', message: `${held.length} objects are still there: ${message}` },
      { type: BLOCKED, status: 'Unknown', reason: 'NoDestination', message },
    ]),
  })
}

/** An object that a guard kept from being deleted belongs to nobody any more. */
async function releaseWithheld(
  { entries, held }: Removal,
  request: RemovalRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const keys = new Set(entriesOf(entries, 'withheld').map(({ id }) => keyOfId(id)))
  if (keys.size === 0) return
  const kept = { server: request.destination.kube.server, held: held.filter(({ key }) => keys.has(key)) }
  await removeAll({ ...request, inventory: fixed(kept), isReleased: true }, clock, signal)
}

function requestOf(
  deployment: GitOpsDeployment,
  destination: Destination,
  inventory: InventoryStore,
  { wants }: Pick<SyncServices, 'wants'>,
): RemovalRequest {
  const owner = ownerOf(deployment)
  const { server } = destination.kube
  return {
    destination,
    owner,
    inventory,
    confirmed: isConfirmed(deployment, deployment.status?.sync?.revision ?? ''),
    successorOf: ({ key }) => wants.successorOf(owner.id, server, key)?.title,
  }
}

/** An inventory that is damaged must not hold a deletion for ever: the status is the second memory. */
async function loadableInventory(
  deployment: GitOpsDeployment,
  services: Pick<SyncServices, 'caches' | 'context'>,
): Promise<InventoryStore> {
  const store = inventoryOf(deployment, services)
  tellLost(deployment, services)
  try {
    await store.load()
    return store
  } catch (failure) {
    if (!isFailure(failure, 'invalid')) throw failure
    return fixed(inventoryInStatus(deployment))
  }
}

/** The status lists some hundred objects; of those beyond, only their owner label is left. */
function tellLost(deployment: GitOpsDeployment, { caches, context: { events } }: Pick<SyncServices, 'caches' | 'context'>): void {
  const { name, namespace } = { name: inventoryName(deployment), namespace: deployment.metadata.namespace }
  const { inventory, resources = [] } = deployment.status ?? {}
  const unknown = (inventory?.count ?? 0) - resources.length
  if (unknown <= 0 || caches.inventories.get({ name, namespace })) return
  const message = `the inventory ${name} is gone, and ${unknown} objects with it; find them by the label ${OWNER_LABEL}=${ownerOf(deployment).id}`
  events.record(deployment, { type: 'Warning', reason: 'LeftBehind', message })
}

const fixed = (inventory: Inventory | undefined): InventoryStore => ({
  load: () => Promise.resolve(inventory),
  save: () => Promise.resolve(),
})

function destinationOrFailure(
  deployment: GitOpsDeployment,
  { caches, context: { kube }, targets }: Pick<SyncServices, 'caches' | 'targets' | 'context'>,
): Destination | Failure {
  try {
    return destinationOf(deployment, caches, { kube, targets })
  } catch (thrown) {
    return Failure.from(thrown)
  }
}

/** An object that a guard blocks is not waited for: nobody could confirm its deletion while the deployment is being deleted. */
function isOver(policy: DeletionPolicy, { entries, held }: Removal): boolean {
  if (held.length === 0) return true
  if (entriesOf(entries, 'failed', 'waiting').length > 0) return false
  return policy !== 'Wait' || entriesOf(entries, 'terminating').length === 0
}

function isOverdue(deployment: GitOpsDeployment, blocked: readonly Entry[], clock: Clock): boolean {
  if (blocked.length === 0) return false
  const hasNoRights = blocked.every(({ failure }) => isFailure(failure, 'forbidden', 'unauthorized'))
  return blockedFor('True', deployment, clock) >= (hasNoRights ? WITHOUT_RIGHTS : OTHERWISE)
}

/** Milliseconds; none where it is not blocked so. `Unknown`: not even whether the objects can be deleted is known. */
function blockedFor(how: 'True' | 'Unknown', { status }: GitOpsDeployment, clock: Clock): number {
  const condition = conditionOf(status?.conditions, BLOCKED)
  return condition?.status === how ? clock.now() - Date.parse(condition.lastTransitionTime) : 0
}

/** The longer it takes, the more seldom it is asked. */
function patienceOf({ metadata }: GitOpsDeployment, clock: Clock): number {
  const age = clock.now() - Date.parse(metadata.deletionTimestamp ?? '')
  return Math.min(Math.max(age / 4, SOONEST), LATEST)
}

function retryLater(deployment: GitOpsDeployment, { entries, held }: Removal, clock: Clock): Next {
  const blocked = entriesOf(entries, 'failed')
  const message = sayEntries(blocked.length > 0 ? blocked : entriesOf(entries, 'terminating', 'waiting'))
  return again({
    after: patienceOf(deployment, clock),
    why: 'objects are being deleted',
    status: statusOf(deployment, [
      { type: 'Ready', status: 'False', reason: 'Deleting', message: `${held.length} objects are still there: ${message}` },
      blocked.length > 0
        ? { type: BLOCKED, status: 'True', reason: 'CannotDelete', message }
        : { type: BLOCKED, status: 'False', reason: 'AsExpected', message: '' },
    ]),
  })
}

/** Objects that could not be deleted stay; so do those on another server than the destination is now. */
function finish(deployment: GitOpsDeployment, { entries, held, leftBehind }: Removal, services: SyncServices): Promise<Next> {
  const staying = entriesOf(entries, 'failed', 'waiting', 'withheld')
  const why = [
    ...(staying.length > 0 ? [sayEntries(staying)] : []),
    ...(leftBehind.length > 0 ? ['they are on another server than the destination is now'] : []),
  ]
  const leaving = new Set(entriesOf(entries, 'terminating').map(({ id }) => keyOfId(id)))
  const left = [...held.filter(({ key }) => !leaving.has(key)), ...leftBehind]
  return finishWith(deployment, services, left, why.join('; '))
}

async function finishWith(
  deployment: GitOpsDeployment,
  services: SyncServices,
  left: readonly Held[],
  why: string,
): Promise<Next> {
  const { id } = ownerOf(deployment)
  tellLeftBehind(services.context.events, deployment, left, why)
  services.memories.end(id)
  services.wants.withdraw(id)
  services.seen.delete(keyOf(refOf(deployment)))
  const object = await dropFinalizers(deployment, services.context.kube)
  if (!object) return settled()
  const message = left.length > 0 ? `${sayIds(left.map((held) => held.id))} stay where they are: ${why}` : ''
  const reason = left.length > 0 ? 'LeftBehind' : 'Deleted'
  return settled({
    object,
    status: statusOf(object, [{ type: 'Ready', status: 'False', reason, message: message.slice(0, 4096) }]),
  })
}

/**
 * A deployment that went away without a policy, and without a finalizer to hold it, leaves objects that carry the owner label
 * of a deployment that is gone: they are released, as far as that is possible, so that the next deployment of them is not
 * refused. `present` has its name now.
 */
export async function releaseFormer(
  ref: Ref,
  present: GitOpsDeployment | undefined,
  services: SyncServices,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(ref)
  const former = services.seen.get(key)
  if (present && !hasOurFinalizer(present)) services.seen.set(key, present)
  else services.seen.delete(key)
  if (!former || former.metadata.uid === present?.metadata.uid) return
  const { memories, wants, context } = services
  const destination = destinationOrFailure(former, services)
  if (!(destination instanceof Failure)) {
    const inventory = await (await loadableInventory(former, services)).load()
    // Nothing is written down: the name of the inventory is the next deployment's by now.
    const request = { ...requestOf(former, destination, fixed(inventory), services), isReleased: true }
    const { entries } = await removeAll(request, context.clock, signal)
    context.log.info('released', { deployment: key, objects: entriesOf(entries, 'skipped').length })
  }
  const { id } = ownerOf(former)
  memories.end(id)
  wants.withdraw(id)
}

function tellProgress(policy: DeletionPolicy, deployment: GitOpsDeployment, { entries }: Removal, events: EventRecorder): void {
  if (policy === 'Orphan') tellReleased(events, deployment, entriesOf(entries, 'skipped'))
  else tellChanges(events, deployment, 'deleted', entries)
}

function statusOf({ status }: GitOpsDeployment, conditions: Statement[]): StatusDraft {
  const { conditions: _, observedGeneration: __, ...rest } = status ?? {}
  return { ...rest, conditions }
}
