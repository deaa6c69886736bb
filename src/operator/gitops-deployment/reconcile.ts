import { type GitOpsDeployment, type GitOpsDeploymentSyncRun, isDeleting, keyOf, Namespaces, refOf } from '../../api/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import {
  type Destination,
  entriesOf,
  healthOfAll,
  observe,
  type Snapshot,
  type SyncResult,
  sync,
} from '../../engines/gitops/index.ts'
import { Failure, minutes, seconds, timestamp, waitOf } from '../../std/index.ts'
import { tellChanges, tellLeftBehind } from './events.ts'
import { intervalOf } from './interval.ts'
import { remove } from './removal.ts'
import { projectOf, revisionsOf } from './repository.ts'
import { inventoryName, inventoryOf, type Note, ownerOf, type Shop } from './shop.ts'
import { statusAfter, statusFor, statusWhile } from './status.ts'
import { runToCarryOut } from './sync-run.ts'
import { destinationOf } from './targets.ts'

/** Keeps a directory of a repository in effect in its destination. */
export async function reconcileDeployment(deployment: GitOpsDeployment, shop: Shop, signal: AbortSignal): Promise<Next> {
  const { books, following } = shop
  if (isDeleting(deployment)) return remove(deployment, shop, signal)

  // Suspended means just that: nothing is read and nothing is written.
  if (deployment.spec.suspend) {
    following.end(refOf(deployment))
    return settled({ status: statusWhile(deployment, 'Suspended', 'spec.suspend is true; nothing is applied') })
  }

  const run = runToCarryOut(deployment, books)
  const { snapshot, failure } = following.of(refOf(deployment), wishOf(deployment, shop, run))
  if (!snapshot) return waitForSource(deployment, failure)

  // Manual: new commits are seen, and applied only when a run asks for it.
  if (deployment.spec.type === 'manual' && !run) {
    const message = `commit ${snapshot.commitId.slice(0, 12)} is there; create a GitOpsDeploymentSyncRun to apply it`
    const isCurrent = deployment.status?.sync?.revision === snapshot.commitId
    return isCurrent ? settled() : settled({ status: statusWhile(deployment, 'WaitingForSyncRun', message, snapshot.commitId) })
  }
  if (!run) return bringAbout(deployment, snapshot, failure, shop, signal)
  return carryOut(run, deployment, snapshot, shop, signal)
}

function wishOf(deployment: GitOpsDeployment, { books }: Shop, run: GitOpsDeploymentSyncRun | undefined) {
  const { source } = deployment.spec
  return {
    projectId: projectOf(deployment, books).spec.path,
    namespace: deployment.metadata.namespace ?? '',
    revisions: revisionsOf(run?.spec.revisionID || source.targetRevision),
    path: source.path,
  }
}

/** The stream rings when there is something; until then what was in effect stays. */
function waitForSource(deployment: GitOpsDeployment, failure: Failure | undefined): Next {
  if (failure) return settled({ status: statusFor(deployment, failure) })
  if (deployment.status?.sync?.revision !== undefined) return settled()
  return settled({ status: statusWhile(deployment, 'WaitingForCommit', 'kas was asked for the files; nothing came yet') })
}

/** A run is over when its commit was tried once: what it says then is its result. */
async function carryOut(
  run: GitOpsDeploymentSyncRun,
  deployment: GitOpsDeployment,
  snapshot: Snapshot,
  shop: Shop,
  signal: AbortSignal,
): Promise<Next> {
  const uid = run.metadata.uid ?? ''
  const revision = snapshot.commitId
  try {
    const next = await bringAbout(deployment, snapshot, undefined, shop, signal)
    const trouble = next.status?.conditions?.find(({ type }) => type === 'SyncError')
    const failed = trouble?.status === 'True'
    const lastSyncRun = failed
      ? { uid, revision, result: 'Failed', message: trouble.message }
      : { uid, revision, result: 'Succeeded' }
    return { ...next, status: { ...next.status, lastSyncRun } }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code !== 'invalid') throw failure
    return settled({
      status: {
        ...statusFor(deployment, failure),
        lastSyncRun: { uid, revision, result: 'Failed', message: failure.message.slice(0, 4096) },
      },
    })
  }
}

async function bringAbout(
  deployment: GitOpsDeployment,
  snapshot: Snapshot,
  source: Failure | undefined,
  shop: Shop,
  signal: AbortSignal,
): Promise<Next> {
  const { workshop, books, notes } = shop
  const { clock, events, kube } = workshop
  const key = keyOf(refOf(deployment))
  const note = currentNote(notes.get(key), deployment, snapshot)
  const interval = intervalOf(deployment.spec.interval)
  const compare = !note || clock.now() - note.comparedAt >= interval || note.observed.health.status === 'Missing'
  const destination = destinationOf(deployment, books, { kube, targets: shop.targets })
  await ensureNamespace(deployment, destination, signal)
  const result = await sync(requestOf(deployment, snapshot, destination, compare, shop), { render: shop.render, clock }, signal)

  tellChanges(events, deployment, result.commitId, result.entries)
  tellLeftBehind(events, deployment, [...result.leftBehind], 'they are on another server than the destination is now')
  const observed = await observedAfter(result, note, destination, ownerOf(deployment).id, clock.now(), signal)
  const isUndone = entriesOf(result.entries, 'failed', 'terminating').length > 0 || observed.health.status === 'Progressing'
  const tries = isUndone ? (note?.tries ?? -1) + 1 : 0
  const comparedAt = compare || !note ? clock.now() : note.comparedAt
  notes.set(key, { generation: deployment.metadata.generation, commitId: snapshot.commitId, comparedAt, observed, tries })

  const status = statusAfter(deployment, {
    revision: result.commitId,
    entries: result.entries,
    observed,
    inventory: {
      namespace: deployment.metadata.namespace ?? '',
      name: inventoryName(deployment),
      count: result.inventory.held.length,
    },
    destination: destination.namespace ?? '',
    source,
    at: timestamp(clock.now()),
  })
  return nextLook(status, {
    isUndone,
    failed: entriesOf(result.entries, 'failed').length > 0,
    tries,
    recheck: recheckOf(observed.health.status, interval, source),
  })
}

const requestOf = (deployment: GitOpsDeployment, snapshot: Snapshot, destination: Destination, compare: boolean, shop: Shop) => ({
  snapshot,
  path: deployment.spec.source.path,
  destination,
  owner: ownerOf(deployment),
  inventory: inventoryOf(deployment, shop),
  compare,
  prune: deployment.spec.prune ?? true,
})

/** What was seen of another commit or another spec says nothing. */
const currentNote = (note: Note | undefined, { metadata }: GitOpsDeployment, { commitId }: Snapshot): Note | undefined =>
  note && note.commitId === commitId && note.generation === metadata.generation ? note : undefined

/** Health is read while it may still change by itself, and after each change; otherwise what was seen last holds. */
async function observedAfter(
  result: SyncResult,
  note: Note | undefined,
  { kube }: Destination,
  owner: string,
  now: number,
  signal: AbortSignal,
) {
  const { held } = result.inventory
  const wrote = entriesOf(result.entries, 'created', 'configured', 'pruned', 'terminating').length > 0
  if (!wrote && result.live) return healthOfAll(held, result.live, now)
  if (!wrote && note && note.observed.health.status === 'Healthy') return note.observed
  return healthOfAll(held, await observe(kube, held, owner, signal), now)
}

const SOON = { base: seconds(1), max: seconds(20), factor: 1.3, jitter: 0.1 }
const PATIENT = { base: seconds(3), max: minutes(3), factor: 2, jitter: 0.3 }

function nextLook(
  status: Next['status'],
  { isUndone, failed, tries, recheck }: { isUndone: boolean; failed: boolean; tries: number; recheck: number },
): Next {
  if (!isUndone) return settled({ status, recheck })
  return again({
    after: waitOf(failed ? PATIENT : SOON, tries),
    why: failed ? 'some objects could not be applied' : 'objects are on their way',
    status,
  })
}

/** A sick object may recover, and a broken source may be mended, without an event. */
const recheckOf = (health: string, interval: number, source: Failure | undefined): number =>
  source ? Math.min(interval, minutes(1)) : health === 'Healthy' ? interval : Math.min(interval, seconds(30))

/** Only when asked to, as the tenant, and never taken into the inventory: a namespace holds more than what a sync put there. */
async function ensureNamespace(
  { spec }: GitOpsDeployment,
  { kube, namespace: name }: Destination,
  signal: AbortSignal,
): Promise<void> {
  if (!name || !spec.syncPolicy?.syncOptions?.includes('CreateNamespace=true')) return
  if (await kube.get(Namespaces, { name }, signal)) return
  await kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}
