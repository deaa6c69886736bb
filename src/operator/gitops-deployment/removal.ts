import { conditionOf, type GitOpsDeployment, keyOf, type Ref, refOf, type Statement } from '../../api/index.ts'
import { keyOfId, sayId, sayIds } from '../../engines/apply/index.ts'
import { again, type Next, type StatusDraft, settled } from '../../engines/controller/index.ts'
import {
  type Destination,
  type Entry,
  entriesOf,
  type Held,
  type Inventory,
  type InventoryStore,
  OWNER_LABEL,
  type Removal,
  type RemovalRequest,
  releaseAll,
  removeAll,
} from '../../engines/gitops/index.ts'
import { Failure, isFailure, minutes, seconds } from '../../std/index.ts'
import { isConfirmed } from './confirmation.ts'
import { type DeletionPolicy, dropFinalizers, isHeld, policyOf } from './deletion-policy.ts'
import { tellChanges, tellLeftBehind, tellReleased } from './events.ts'
import { inventoryInStatus, inventoryName, inventoryOf, ownerOf, type Shop } from './shop.ts'
import { destinationOf } from './targets.ts'

/** How long a deployment is held by objects to which no way leads, that may not be deleted any more, or that cannot be for now. */
const WITHOUT_WAY = seconds(30)
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
export async function remove(deployment: GitOpsDeployment, shop: Shop, signal: AbortSignal): Promise<Next> {
  shop.following.end(refOf(deployment))
  // Nobody waits for us: then what stays is released when the deployment is gone.
  if (!isHeld(deployment)) return settled()

  // Only to hide them in what is told; where they are gone already, the deletion goes on.
  await shop.variables.learn(deployment)
  const inventory = await readable(deployment, shop)
  const destination = reach(deployment, shop)
  if (destination instanceof Failure) return missWay(deployment, (await inventory.load())?.held ?? [], destination, shop)

  const policy = policyOf(deployment)
  const request = requestOf(deployment, destination, inventory, shop)
  // Whoever wants something of it is told now, and takes it before it is deleted.
  shop.wants.leave(request.owner.id)
  const removal = await carryOut(policy, request, shop, signal)
  tellProgress(policy, deployment, removal, shop)
  const blocked = entriesOf(removal.entries, 'failed')
  if (!isOver(policy, removal) && !isOverdue(deployment, blocked, shop)) return comeBack(deployment, removal, shop)
  await releaseWithheld(removal, request, shop, signal)
  return finish(deployment, removal, shop)
}

/** A Secret that is replaced is gone for a moment, and so is an environment that is made anew: the watches ring. */
function missWay(deployment: GitOpsDeployment, held: readonly Held[], { message }: Failure, shop: Shop): Promise<Next> | Next {
  shop.books.requireWhole(deployment.metadata.namespace ?? '')
  const isMissed = held.length > 0 && blockedFor('Unknown', deployment, shop) < WITHOUT_WAY
  if (!isMissed) return leave(deployment, shop, held, message)
  return again({
    after: patienceOf(deployment, shop),
    why: 'no way leads to the objects',
    status: statusOf(deployment, [
      { type: 'Ready', status: 'False', reason: 'Deleting', message: `${held.length} objects are still there: ${message}` },
      { type: BLOCKED, status: 'Unknown', reason: 'NoDestination', message },
    ]),
  })
}

const carryOut = (policy: DeletionPolicy, request: RemovalRequest, { workshop: { clock } }: Shop, signal: AbortSignal) =>
  policy === 'Orphan' ? releaseAll(request, clock, signal) : removeAll(request, clock, signal)

/** What a guard kept from being deleted belongs to nobody any more. */
async function releaseWithheld(
  { entries, held }: Removal,
  request: RemovalRequest,
  shop: Shop,
  signal: AbortSignal,
): Promise<void> {
  const keys = new Set(entriesOf(entries, 'withheld').map(({ id }) => keyOfId(id)))
  if (keys.size === 0) return
  const kept = { server: request.destination.kube.server, held: held.filter(({ id }) => keys.has(keyOfId(id))) }
  await releaseAll({ ...request, inventory: fixed(kept) }, shop.workshop.clock, signal)
}

function requestOf(
  deployment: GitOpsDeployment,
  destination: Destination,
  inventory: InventoryStore,
  shop: Shop,
): RemovalRequest {
  const owner = ownerOf(deployment)
  const { server } = destination.kube
  return {
    destination,
    owner,
    inventory,
    confirmed: isConfirmed(deployment, deployment.status?.sync?.revision ?? ''),
    heir: ({ id }) => shop.wants.offer(owner.id, server, keyOfId(id))?.title,
  }
}

/** An inventory that is damaged must not hold a deletion for ever: the status is the second memory. */
async function readable(deployment: GitOpsDeployment, shop: Shop): Promise<InventoryStore> {
  const store = inventoryOf(deployment, shop)
  tellLost(deployment, shop)
  try {
    await store.load()
    return store
  } catch (failure) {
    if (!isFailure(failure, 'invalid')) throw failure
    return fixed(inventoryInStatus(deployment))
  }
}

/** The status lists some hundred objects; of those beyond, only their mark is left. */
function tellLost(deployment: GitOpsDeployment, { books, workshop: { events } }: Shop): void {
  const { name, namespace } = { name: inventoryName(deployment), namespace: deployment.metadata.namespace }
  const { inventory, resources = [] } = deployment.status ?? {}
  const unknown = (inventory?.count ?? 0) - resources.length
  if (unknown <= 0 || books.inventories.get({ name, namespace })) return
  const message = `the inventory ${name} is gone, and ${unknown} objects with it; find them by the label ${OWNER_LABEL}=${ownerOf(deployment).id}`
  events.record(deployment, { type: 'Warning', reason: 'LeftBehind', message })
}

const fixed = (inventory: Inventory | undefined): InventoryStore => ({
  load: () => Promise.resolve(inventory),
  save: () => Promise.resolve(),
})

function reach(deployment: GitOpsDeployment, { books, workshop: { kube }, targets }: Shop): Destination | Failure {
  try {
    return destinationOf(deployment, books, { kube, targets })
  } catch (thrown) {
    return Failure.from(thrown)
  }
}

/** What a guard holds back is not waited for: nobody could confirm the deletion of what is being deleted. */
function isOver(policy: DeletionPolicy, { entries, held }: Removal): boolean {
  if (held.length === 0) return true
  if (entriesOf(entries, 'failed', 'waiting').length > 0) return false
  return policy !== 'Wait' || entriesOf(entries, 'terminating').length === 0
}

function isOverdue(deployment: GitOpsDeployment, blocked: readonly Entry[], shop: Shop): boolean {
  if (blocked.length === 0) return false
  const hasNoRights = blocked.every(({ failure }) => isFailure(failure, 'forbidden', 'unauthorized'))
  return blockedFor('True', deployment, shop) >= (hasNoRights ? WITHOUT_RIGHTS : OTHERWISE)
}

/** Milliseconds; none where it is not blocked so. `Unknown`: not even whether the objects can be deleted is known. */
function blockedFor(how: 'True' | 'Unknown', { status }: GitOpsDeployment, { workshop: { clock } }: Shop): number {
  const condition = conditionOf(status?.conditions, BLOCKED)
  return condition?.status === how ? clock.now() - Date.parse(condition.lastTransitionTime) : 0
}

/** The longer it takes, the more seldom it is asked. */
function patienceOf({ metadata }: GitOpsDeployment, { workshop: { clock } }: Shop): number {
  const age = clock.now() - Date.parse(metadata.deletionTimestamp ?? '')
  return Math.min(Math.max(age / 4, SOONEST), LATEST)
}

function comeBack(deployment: GitOpsDeployment, { entries, held }: Removal, shop: Shop): Next {
  const blocked = entriesOf(entries, 'failed')
  const message = sentence(blocked.length > 0 ? blocked : entriesOf(entries, 'terminating', 'waiting'))
  return again({
    after: patienceOf(deployment, shop),
    why: 'objects are being deleted',
    status: statusOf(deployment, [
      { type: 'Ready', status: 'False', reason: 'Deleting', message: `${held.length} objects are still there: ${message}` },
      blocked.length > 0
        ? { type: BLOCKED, status: 'True', reason: 'CannotDelete', message }
        : { type: BLOCKED, status: 'False', reason: 'AsExpected', message: '' },
    ]),
  })
}

/** What could not be deleted stays; so does what stands on another server than the destination is now. */
function finish(deployment: GitOpsDeployment, { entries, held, leftBehind }: Removal, shop: Shop): Promise<Next> {
  const staying = entriesOf(entries, 'failed', 'waiting', 'withheld')
  const why = [
    ...(staying.length > 0 ? [sentence(staying)] : []),
    ...(leftBehind.length > 0 ? ['they are on another server than the destination is now'] : []),
  ]
  const leaving = new Set(entriesOf(entries, 'terminating').map(({ id }) => keyOfId(id)))
  const left = [...held.filter(({ id }) => !leaving.has(keyOfId(id))), ...leftBehind]
  return leave(deployment, shop, left, why.join('; '))
}

async function leave(deployment: GitOpsDeployment, shop: Shop, left: readonly Held[], why: string): Promise<Next> {
  const { id } = ownerOf(deployment)
  tellLeftBehind(shop.workshop.events, deployment, [...left], why)
  shop.ledgers.end(id)
  shop.wants.withdraw(id)
  shop.seen.delete(keyOf(refOf(deployment)))
  const object = await dropFinalizers(deployment, shop)
  if (!object) return settled()
  const message = left.length > 0 ? `${sayIds(left.map((held) => held.id))} stay where they are: ${why}` : ''
  const reason = left.length > 0 ? 'LeftBehind' : 'Deleted'
  return settled({
    object,
    status: statusOf(object, [{ type: 'Ready', status: 'False', reason, message: message.slice(0, 4096) }]),
  })
}

/**
 * A deployment that went away without a policy, and without a finalizer to hold it, leaves objects that carry the mark of
 * nobody: they are released, as far as that is possible, so that the next deployment of them is not refused. `present` has
 * its name now.
 */
export async function releaseFormer(
  ref: Ref,
  present: GitOpsDeployment | undefined,
  shop: Shop,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(ref)
  const former = shop.seen.get(key)
  if (present && !isHeld(present)) shop.seen.set(key, present)
  else shop.seen.delete(key)
  if (!former || former.metadata.uid === present?.metadata.uid) return
  const { ledgers, wants, workshop } = shop
  const destination = reach(former, shop)
  if (!(destination instanceof Failure)) {
    const inventory = await (await readable(former, shop)).load()
    // Nothing is written down: the name of the inventory is the next deployment's by now.
    const request = requestOf(former, destination, fixed(inventory), shop)
    const { entries } = await releaseAll(request, workshop.clock, signal)
    workshop.log.info('released', { deployment: key, objects: entriesOf(entries, 'skipped').length })
  }
  const { id } = ownerOf(former)
  ledgers.end(id)
  wants.withdraw(id)
}

function tellProgress(policy: DeletionPolicy, deployment: GitOpsDeployment, { entries }: Removal, { workshop }: Shop): void {
  if (policy === 'Orphan') tellReleased(workshop.events, deployment, entriesOf(entries, 'skipped'))
  else tellChanges(workshop.events, deployment, 'deleted', entries)
}

function statusOf({ status }: GitOpsDeployment, conditions: Statement[]): StatusDraft {
  const { conditions: _, observedGeneration: __, ...rest } = status ?? {}
  return { ...rest, conditions }
}

function sentence(entries: readonly Entry[]): string {
  const said = entries.slice(0, 3).map(({ id, why = '' }) => `${sayId(id)} ${why}`.trim())
  return entries.length > 3 ? `${said.join('; ')}; and ${entries.length - 3} more` : said.join('; ')
}
