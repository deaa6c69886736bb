import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  type GitProject,
  isTrue,
  keyOf,
  Namespaces,
  sourcePath,
} from '../../../api/index.ts'
import { keyOfId } from '../../../engines/apply/index.ts'
import { again, type Next, type StatusDraft, settled } from '../../../engines/controller/index.ts'
import {
  type Destination,
  type Entry,
  entriesOf,
  type Observed,
  objectionToNamespace,
  observe,
  type SyncRequest,
  type SyncResult,
  sync,
} from '../../../engines/gitops/index.ts'
import type { Render, Snapshot } from '../../../engines/render/index.ts'
import { Failure, minutes, seconds, timestamp, waitOf } from '../../../std/index.ts'
import { intervalOf } from '../schedule/interval.ts'
import { chartOf } from '../services/chart.ts'
import {
  inventoryName,
  type LastPass,
  memoryOf,
  ownerOf,
  rememberedInventory,
  rulesOf,
  type SyncServices,
} from '../services/services.ts'
import { destinationOf } from '../services/targets.ts'
import { nameOfProject } from '../source/repository.ts'
import { pendingPruneOf } from '../status/attention.ts'
import {
  tellChanges,
  tellContested,
  tellFights,
  tellLeftBehind,
  tellLookups,
  tellNotRun,
  tellPending,
  tellRefused,
  tellRepairs,
} from '../status/events.ts'
import { askedOf, isConfirmed, useUp } from '../status/requests.ts'
import { statusAfter, statusBetweenRuns, withHealth } from '../status/status.ts'
import { isEarly } from './hand-over.ts'
import { isCompareDue, isUnderWay, isUndone, lastPassOf, rememberPass } from './last-pass.ts'
import { withoutMessages } from './masked.ts'

export interface Pass {
  deployment: GitOpsDeployment
  /** The GitProject that is followed. */
  project: GitProject
  snapshot: Snapshot
  /** Why no newer commit can be had, if so. */
  source?: Failure | undefined
  /** Whom it is done for, where it is not done by itself. */
  run?: GitOpsDeploymentSyncRun
}

/** For what takes long, namespaces take turns; and of the objects that are kept, each has so many. */
const renderFor =
  ({ metadata }: GitOpsDeployment, { render, objects, made }: Pick<SyncServices, 'render' | 'objects' | 'made'>): Render =>
  async (snapshot, path, how) => {
    const { namespace = '' } = metadata
    const keepMade = (bytes: number) => {
      if (!made.keep(keyOf(metadata), namespace, bytes)) throw tooMuch(bytes, namespace, made.most)
    }
    const manifests = await render(snapshot, path, { ...how, tenant: namespace, made: keepMade })
    if (!objects.keep(keyOf(metadata), namespace, manifests.length)) throw tooMany(manifests.length, namespace, objects.most)
    return manifests
  }

const toolsFor = (deployment: GitOpsDeployment, services: SyncServices) => ({
  render: renderFor(deployment, services),
  clock: services.context.clock,
  meter: services.meter,
  tell: services.tellSync,
})

const tooMany = (count: number, namespace: string, most: number): Failure =>
  new Failure(
    'too-large',
    `the path describes ${count} objects, and all GitOpsDeployments of namespace ${namespace} may have ${most} together`,
    { reason: 'TooManyObjects', remedy: 'Leave some out, or apply them from another namespace.' },
  )

const tooMuch = (bytes: number, namespace: string, most: number): Failure =>
  new Failure(
    'too-large',
    `what is rendered of the path has ${bytes} bytes, and that of all GitOpsDeployments of namespace ${namespace} may have ${most} together`,
    { reason: 'RenderedTooLarge', remedy: 'Render less, or apply it from another namespace.' },
  )

/** One pass: the commit is brought into effect, and what came of it is told. Where nothing changed it costs no request. */
export async function syncCommit(pass: Pass, services: SyncServices, signal: AbortSignal): Promise<Next> {
  const { deployment } = pass
  const { clock, events } = services.context
  const before = lastPassOf(deployment, services)
  const destination = destinationFor(deployment, services)
  await ensureNamespace(deployment, destination, signal)
  const request = await requestOf(pass, destination, before, services)
  const result = await sync(request, toolsFor(deployment, services), signal)

  rememberWrite(deployment, result, services)
  tellChanges(events, deployment, result.commitId, withoutRepairs(result))
  tellLookups(events, deployment, pass.snapshot)
  tellNotRun(events, deployment, result.changes)
  tellRefused(events, deployment, pass.source)
  tellPending(events, deployment, pendingPruneOf(deployment, result.changes, result.commitId))
  tellRepairs(events, deployment, result.repairs)
  tellFights(events, deployment, result.fights)
  tellLeftBehind(events, deployment, result.leftBehind, 'they are on another server than the destination is now')
  const done = { commitId: result.commitId, entries: result.changes, isPostponed: result.deletionsLater.length > 0 }
  await useUp(deployment, done, services.context.kube)
  const now = rememberPass(deployment, request, result, services, clock.now())
  // The watches have just been opened, and trigger a reconcile once their first list is complete: until then the status stands.
  if (result.isListing && now.wroteAt === undefined && isTold(deployment, result)) return settled({ recheck: seconds(30) })
  // For a moment only: what others want of this commit decides whether it is deleted or theirs.
  if (result.deletionsLater.length > 0) return again({ after: HAND_OVER_RECHECK, why: 'others have yet to look at this commit' })
  // Nobody else would: of a manual deployment nothing is set back between two syncs.
  if (isAsked(pass) && result.repairsLater.length > 0 && now.tries < MOST_PASSES)
    return again({ after: seconds(10), why: `${result.repairsLater.length} objects wait to be set back` })
  // What was just written often is healthy in a moment, and then one status is written instead of two.
  if (isWorthAMoment(pass, before, now, result)) return again({ after: STATUS_COALESCE, why: 'the objects were just written' })
  return nextAfter(pass, { lastPass: now, result, destination }, services)
}

/**
 * The commit before stays in effect while a newer one is refused: what is changed in its objects is set back. After a restart it is
 * not known any more. What goes wrong with it is told by nobody, for the newer one stands in its place.
 */
export async function keepInEffect(
  pass: Omit<Pass, 'snapshot'> & { snapshot?: Snapshot },
  services: SyncServices,
  signal: AbortSignal,
): Promise<void> {
  const { deployment, snapshot } = pass
  const earlier = memoryOf(deployment, services).wanted?.snapshot
  if (!earlier || earlier === snapshot) return
  const destination = destinationFor(deployment, services)
  const request = await requestOf({ ...pass, snapshot: earlier }, destination, lastPassOf(deployment, services), services)
  const { repairs } = await sync(request, toolsFor(deployment, services), signal)
  tellRepairs(services.context.events, deployment, repairs)
}

interface PassOutcome {
  lastPass: LastPass
  result: SyncResult
  destination: Destination
}

function nextAfter(pass: Pass, { lastPass, result, destination }: PassOutcome, services: SyncServices): Next {
  const { deployment, source } = pass
  const { observed } = result
  const { clock } = services.context
  const interval = intervalOf(deployment.spec.interval)
  const at = lastPass.wroteAt
  lastPass.wroteAt = undefined
  const status = statusAfter(deployment, {
    revision: result.commitId,
    commit: pass.snapshot,
    entries: result.changes,
    observed,
    inventory: {
      namespace: deployment.metadata.namespace ?? '',
      name: inventoryName(deployment),
      count: result.inventory.held.length,
    },
    destination: destination.namespace ?? '',
    project: nameOfProject(pass.project),
    source,
    at: at === undefined ? undefined : timestamp(at),
    isAsked: isAsked(pass),
    repairsLater: result.repairsLater,
    fights: result.fights,
    contested: result.contested,
    now: timestamp(clock.now()),
  })
  const failed = entriesOf(result.changes, 'failed').length > 0
  tellHealth(deployment, status, result, services)
  tellContested(services.context.events, deployment, status.conditions)
  if (isUndone(result) || isPolled(result, memoryOf(deployment, services))) return soon(status, failed, lastPass.tries)
  return settled({ status, recheck: Math.min(recheckOf(observed, interval, source), restOf(result, clock.now())) })
}

function rememberWrite(
  { metadata }: GitOpsDeployment,
  { commitId, changes }: SyncResult,
  { arrivals, context }: Pick<SyncServices, 'arrivals' | 'context'>,
): void {
  const arrival = arrivals.get(keyOf(metadata))
  const wrote = entriesOf(changes, 'created', 'configured').length > 0
  if (wrote && arrival?.commitId === commitId) arrival.wroteAt = context.clock.now()
}

/** How long a commit took to be healthy, told when it is so for the first time. */
function tellHealth(
  deployment: GitOpsDeployment,
  status: StatusDraft,
  { commitId }: SyncResult,
  { arrivals, meter, tracer, context }: Pick<SyncServices, 'arrivals' | 'meter' | 'tracer' | 'context'>,
): void {
  const arrival = arrivals.get(keyOf(deployment.metadata))
  if (arrival?.commitId !== commitId) return
  const now = context.clock.now()
  const isNew = deployment.status?.history?.[0]?.revision !== commitId
  if (!(isNew && isTrue(status.conditions, 'Ready'))) return
  const { at, wroteAt: began } = arrival
  meter?.took('health', now - (began ?? at))
  if (began === undefined) return
  tracer.record(commitId, { name: 'health', began, ended: now, attributes: { 'berth.owner': ownerOf(deployment).title } })
}

/** Between two runs the health of the objects is followed, and nothing is written. */
export async function watchHealth(
  { deployment, snapshot }: Pick<Pass, 'deployment' | 'snapshot'>,
  services: SyncServices,
  signal: AbortSignal,
): Promise<Next> {
  const status = statusBetweenRuns(deployment, snapshot)
  const { held } = (await rememberedInventory(deployment, services).load()) ?? { held: [] }
  if (held.length === 0) return settled({ status })
  const { clock } = services.context
  const request = {
    destination: destinationFor(deployment, services),
    owner: ownerOf(deployment),
    memory: memoryOf(deployment, services),
    held,
    rules: await rulesOf(deployment, services),
  }
  const { observed: seen, isListing, isWatched } = await observe(request, clock, signal)
  if (isListing) return settled({ status, recheck: seconds(30) })
  const isHidable = (await services.variables.learn(deployment)) && services.decryptions.isKnown(deployment)
  const observed = isHidable ? seen : withoutMessages(seen)
  const interval = intervalOf(deployment.spec.interval)
  const applied = memoryOf(deployment, services).wanted?.snapshot
  const now = withHealth(status, deployment, {
    observed,
    newest: snapshot.commitId,
    known: applied ? [snapshot, applied] : [snapshot],
    now: timestamp(clock.now()),
  })
  return settled({ status: now, recheck: isWatched || !isUnderWay(observed) ? interval : Math.min(interval, seconds(5)) })
}

/** They are told in their own words. */
function withoutRepairs({ changes, repairs }: SyncResult): readonly Entry[] {
  if (repairs.length === 0) return changes
  const keys = new Set(repairs.map(({ id }) => keyOfId(id)))
  return changes.filter(({ id }) => !keys.has(keyOfId(id)))
}

const destinationFor = (
  deployment: GitOpsDeployment,
  { caches, context: { kube }, targets }: Pick<SyncServices, 'caches' | 'targets' | 'context'>,
): Destination => destinationOf(deployment, caches, { kube, targets })

/** What was asked for, if the pass is not by itself. */
const requestFor = ({ deployment, run }: Pass): string | undefined => run?.metadata.uid ?? askedOf(deployment)
const isAsked = (pass: Pass): boolean => requestFor(pass) !== undefined

async function requestOf(
  pass: Pass,
  destination: Destination,
  lastPass: LastPass | undefined,
  services: SyncServices,
): Promise<SyncRequest> {
  const { deployment, snapshot } = pass
  const { spec } = deployment
  if (isAsked(pass)) {
    services.variables.forget(keyOf(deployment.metadata))
    services.decryptions.forget(keyOf(deployment.metadata))
  }
  const inputs = await services.variables.of(deployment, snapshot.commitId)
  const memory = memoryOf(deployment, services)
  return {
    snapshot,
    path: sourcePath(spec.source),
    destination,
    owner: ownerOf(deployment),
    inventory: rememberedInventory(deployment, services),
    memory,
    compare: isAsked(pass) ? 'all' : isCompareDue(lastPass, intervalOf(spec.interval), services.context.clock.now()),
    asked: requestFor(pass),
    rules: await rulesOf(deployment, services),
    detectOnly: spec.drift === 'Detect',
    force: spec.force ?? false,
    prune: spec.prune ?? true,
    pruneLast: spec.syncPolicy?.syncOptions?.includes('PruneLast=true') ?? false,
    guards: spec.pruneGuard,
    confirmed: isConfirmed(deployment, snapshot.commitId),
    variables: inputs.variables,
    decryption: await services.decryptions.of(deployment),
    chart: chartOf(deployment, inputs),
    wants: services.wants,
    isEarly: () => isEarly(deployment, snapshot, services),
  }
}

/** Whether somebody must ask again and again, for no watch tells how it goes on. */
const isPolled = ({ observed, inventory }: SyncResult, { states }: ReturnType<typeof memoryOf>): boolean =>
  isUnderWay(observed) && states.unwatched(inventory.held).length > 0

const isTold = ({ status }: GitOpsDeployment, { commitId }: SyncResult): boolean => status?.sync?.revision === commitId

/** A sync that was asked for gets an answer even while others go on changing the objects that it sets back. */
const MOST_PASSES = 30

const STATUS_COALESCE = seconds(2)
const HAND_OVER_RECHECK = seconds(0.5)

const isWorthAMoment = (
  { run }: Pass,
  before: LastPass | undefined,
  { wroteAt, observed }: LastPass,
  result: SyncResult,
): boolean => !run && wroteAt !== undefined && before?.wroteAt === undefined && !isUndone(result) && isUnderWay(observed)

const PROGRESS_BACKOFF = { base: seconds(1), max: seconds(20), factor: 1.3, jitter: 0.1 }
const FAILURE_BACKOFF = { base: seconds(3), max: minutes(3), factor: 2, jitter: 0.3 }

function soon(status: StatusDraft, failed: boolean, tries: number): Next {
  const why = failed ? 'some objects could not be applied' : 'objects are on their way'
  return again({ after: waitOf(failed ? FAILURE_BACKOFF : PROGRESS_BACKOFF, tries), why, status })
}

/** A sick object may recover, and a broken source may be mended, without an event. */
const recheckOf = ({ health }: Observed, interval: number, source: Failure | undefined): number =>
  source ? Math.min(interval, minutes(1)) : health.status === 'Healthy' ? interval : Math.min(interval, seconds(30))

/** Until the next time that an object over which there is a fight is set back. */
const restOf = ({ fights }: SyncResult, now: number): number =>
  Math.min(...fights.map(({ until }) => Math.max(until - now, seconds(0.1))))

/** Only when asked to, as the tenant, and never taken into the inventory: a namespace holds more than what a sync put there. */
async function ensureNamespace(
  { spec }: GitOpsDeployment,
  { kube, namespace: name, ...limits }: Destination,
  signal: AbortSignal,
): Promise<void> {
  if (!name || !spec.syncPolicy?.syncOptions?.includes('CreateNamespace=true')) return
  if (await kube.get(Namespaces, { name }, signal)) return
  const objection = objectionToNamespace(name, limits)
  if (objection !== undefined)
    throw new Failure('invalid', `spec.syncPolicy.syncOptions CreateNamespace=true: Namespace ${name} ${objection}`, {
      reason: 'OutsideDestination',
      remedy: 'Make the namespace by other means, or change the managed environment',
    })
  await kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}
