import { type GitOpsDeployment, type GitOpsDeploymentSyncRun, isDeleting, keyOf, Namespaces, refOf } from '../../api/index.ts'
import { again, type Next, type StatusDraft, sentenceOf, settled } from '../../engines/controller/index.ts'
import {
  type Destination,
  entriesOf,
  healthOfAll,
  type Observed,
  observe,
  type Snapshot,
  type SyncResult,
  sync,
} from '../../engines/gitops/index.ts'
import { Failure, isFailure, minutes, seconds, timestamp, waitOf } from '../../std/index.ts'
import { tellChanges, tellLeftBehind } from './events.ts'
import { intervalOf } from './interval.ts'
import { remove } from './removal.ts'
import { projectOf, revisionOf } from './repository.ts'
import { inventoryName, inventoryOf, type Note, ownerOf, type Shop } from './shop.ts'
import { statusAfter, statusBetweenRuns, statusFor, statusWhile, withHealth } from './status.ts'
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
  if (!snapshot) return waitForSource(deployment, failure, run)

  // Manual: new commits are seen, and applied only when a run asks for it.
  if (deployment.spec.type === 'manual' && !run)
    return watchHealth(deployment, statusBetweenRuns(deployment, snapshot), shop, signal)
  if (!run) return bringAbout(deployment, snapshot, failure, shop, signal)
  return carryOut(run, deployment, snapshot, shop, signal)
}

function wishOf(deployment: GitOpsDeployment, { books }: Shop, run: GitOpsDeploymentSyncRun | undefined) {
  const { source } = deployment.spec
  const project = projectOf(deployment, books)
  return {
    projectId: project.spec.path,
    projectUid: project.metadata.uid,
    namespace: deployment.metadata.namespace ?? '',
    serviceAccount: deployment.spec.serviceAccountName || 'default',
    revision: revisionOf(run?.spec.revisionID ? { targetRevision: run.spec.revisionID } : source),
    path: source.path,
  }
}

/** The stream rings when there is something; until then what was in effect stays. */
function waitForSource(
  deployment: GitOpsDeployment,
  failure: Failure | undefined,
  run: GitOpsDeploymentSyncRun | undefined,
): Next {
  if (failure && run && isFailure(failure, 'not-found', 'invalid', 'forbidden')) return failedRun(run, deployment, failure)
  if (failure) return settled({ status: statusFor(deployment, failure) })
  if (deployment.status?.sync?.revision !== undefined) return settled()
  return settled({ status: statusWhile(deployment, 'WaitingForCommit', 'kas was asked for the files; nothing came yet') })
}

function failedRun(
  { metadata: { uid = '' } }: GitOpsDeploymentSyncRun,
  deployment: GitOpsDeployment,
  failure: Failure,
  revision?: string,
): Next {
  const lastSyncRun = { uid, result: 'Failed', message: sentenceOf(failure).slice(0, 4096), ...(revision && { revision }) }
  return settled({ status: { ...statusFor(deployment, failure), lastSyncRun } })
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
    return failedRun(run, deployment, failure, revision)
  }
}

async function bringAbout(
  deployment: GitOpsDeployment,
  snapshot: Snapshot,
  source: Failure | undefined,
  shop: Shop,
  signal: AbortSignal,
): Promise<Next> {
  const { clock, events } = shop.workshop
  const note = noteOf(deployment, shop)
  const interval = intervalOf(deployment.spec.interval)
  const compare = isCompareDue(note, interval, clock.now())
  const destination = destinationFor(deployment, shop)
  await ensureNamespace(deployment, destination, signal)
  const variables = await shop.variables.of(deployment, snapshot.commitId)
  const request = { ...requestOf(deployment, snapshot, destination, compare, shop), variables }
  const result = await sync(request, { render: shop.render, clock }, signal)

  tellChanges(events, deployment, result.commitId, result.entries)
  tellLeftBehind(events, deployment, [...result.leftBehind], 'they are on another server than the destination is now')
  const observed = await observedAfter(result, note, { deployment, destination, now: clock.now() }, signal)
  const failed = entriesOf(result.entries, 'failed').length > 0
  const isUndone = failed || entriesOf(result.entries, 'terminating').length > 0 || isUnderWay(observed)
  const tries = isUndone && note?.commitId === snapshot.commitId ? note.tries + 1 : 0
  const comparedAt = compare || !note ? clock.now() : note.comparedAt
  takeNote(deployment, { commitId: snapshot.commitId, comparedAt, observed, tries }, shop)

  const { name, namespace = '' } = { name: inventoryName(deployment), namespace: deployment.metadata.namespace }
  const status = statusAfter(deployment, {
    revision: result.commitId,
    entries: result.entries,
    observed,
    inventory: { namespace, name, count: result.inventory.held.length },
    destination: destination.namespace ?? '',
    source,
    at: timestamp(clock.now()),
  })
  const recheck = recheckOf(observed.health.status, interval, source)
  return isUndone ? soon(status, failed, tries) : settled({ status, recheck })
}

/** What is in effect goes on living between two runs: its health is followed, and nothing is written. */
async function watchHealth(deployment: GitOpsDeployment, status: StatusDraft, shop: Shop, signal: AbortSignal): Promise<Next> {
  const { held } = (await inventoryOf(deployment, shop).load()) ?? { held: [] }
  if (held.length === 0) return settled({ status })
  const { clock } = shop.workshop
  const note = noteOf(deployment, shop)
  const live = await observe(destinationFor(deployment, shop).kube, held, ownerOf(deployment).id, signal)
  const observed = healthOfAll(held, live, clock.now())
  const tries = isUnderWay(observed) ? (note?.tries ?? -1) + 1 : 0
  takeNote(deployment, { commitId: note?.commitId ?? '', comparedAt: clock.now(), observed, tries }, shop)
  const now = withHealth(status, deployment.status ?? {}, observed)
  return isUnderWay(observed) ? soon(now, false, tries) : settled({ status: now, recheck: intervalOf(deployment.spec.interval) })
}

const destinationFor = (deployment: GitOpsDeployment, { books, workshop: { kube }, targets }: Shop): Destination =>
  destinationOf(deployment, books, { kube, targets })

/** Drift is looked for once after each start and change of the spec, then every interval; what is missing is made again at once. */
const isCompareDue = (note: Note | undefined, interval: number, now: number): boolean =>
  !note || now - note.comparedAt >= interval || note.observed.health.status === 'Missing'

const isUnderWay = ({ health: { status } }: Observed): boolean => status === 'Progressing' || status === 'Missing'

const requestOf = (deployment: GitOpsDeployment, snapshot: Snapshot, destination: Destination, compare: boolean, shop: Shop) => ({
  snapshot,
  path: deployment.spec.source.path,
  destination,
  owner: ownerOf(deployment),
  inventory: inventoryOf(deployment, shop),
  compare,
  prune: deployment.spec.prune ?? true,
})

/** What was seen under another spec says nothing. */
function noteOf({ metadata }: GitOpsDeployment, { notes }: Shop): Note | undefined {
  const note = notes.get(keyOf(metadata))
  return note?.generation === metadata.generation && note?.uid === metadata.uid ? note : undefined
}

function takeNote({ metadata }: GitOpsDeployment, note: Omit<Note, 'generation' | 'uid'>, { notes }: Shop): void {
  notes.set(keyOf(metadata), { ...note, generation: metadata.generation, uid: metadata.uid })
}

interface Aspect {
  deployment: GitOpsDeployment
  destination: Destination
  now: number
}

/** Health is read while it may still change by itself, and after each change; otherwise what was seen last holds. */
async function observedAfter(
  { inventory: { held }, entries, live }: SyncResult,
  note: Note | undefined,
  { deployment, destination, now }: Aspect,
  signal: AbortSignal,
): Promise<Observed> {
  const wrote = entriesOf(entries, 'created', 'configured', 'pruned', 'terminating').length > 0
  if (!wrote && live) return healthOfAll(held, live, now)
  if (!wrote && note?.observed.health.status === 'Healthy') return note.observed
  return healthOfAll(held, await observe(destination.kube, held, ownerOf(deployment).id, signal), now)
}

const SOON = { base: seconds(1), max: seconds(20), factor: 1.3, jitter: 0.1 }
const PATIENT = { base: seconds(3), max: minutes(3), factor: 2, jitter: 0.3 }

function soon(status: StatusDraft, failed: boolean, tries: number): Next {
  const why = failed ? 'some objects could not be applied' : 'objects are on their way'
  return again({ after: waitOf(failed ? PATIENT : SOON, tries), why, status })
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
