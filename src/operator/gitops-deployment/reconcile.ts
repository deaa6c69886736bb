import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  type GitProject,
  isDeleting,
  keyOf,
  refOf,
  type Statement,
} from '../../api/index.ts'
import { again, type Next, type StatusDraft, sentenceOf, settled } from '../../engines/controller/index.ts'
import type { Snapshot } from '../../engines/render/index.ts'
import { type Clock, defined, Failure, hours, isFailure, seconds, unlessFailed } from '../../std/index.ts'
import { keepInEffect, type Pass, syncCommit, watchHealth } from './pass/sync-commit.ts'
import { withPromotion } from './promotion/promotion.ts'
import { keepFinalizer } from './removal/deletion-policy.ts'
import { releaseFormer, remove } from './removal/removal.ts'
import { runToCarryOut } from './runs/sync-run.ts'
import { type Rules, syncWaitOf } from './schedule/sync-wait.ts'
import { ownerOf, type SyncServices } from './services/services.ts'
import type { Following } from './source/following.ts'
import { isEmpty, nothingPushed, projectOf, wishOf } from './source/repository.ts'
import { tellOnce } from './status/events.ts'
import { answerTo, askedOf } from './status/requests.ts'
import { isGoingOn, statusFor, statusWhile, statusWhileWaiting } from './status/status.ts'

/** Keeps a directory of a repository in effect in its destination. */
export async function reconcileDeployment(
  deployment: GitOpsDeployment,
  services: SyncServices,
  signal: AbortSignal,
): Promise<Next> {
  const { caches, following } = services
  await releaseFormer(refOf(deployment), deployment, services, signal)
  if (isDeleting(deployment)) return remove(deployment, services, signal)

  // A policy binds the deletion only from then on, so it comes before the first object; our write rings again.
  if (await keepFinalizer(deployment, services.context.kube)) return settled()

  // Suspended means just that: nothing is read and nothing is written.
  if (deployment.spec.suspend) {
    following.end(refOf(deployment))
    services.memories.end(ownerOf(deployment).id)
    services.objects.release(keyOf(deployment.metadata))
    services.wants.rest(ownerOf(deployment).id)
    return settled({ status: statusWhile(deployment, 'Suspended', 'spec.suspend is true; nothing is applied') })
  }

  const run = runToCarryOut(deployment, caches)
  if (!deployment.spec.source.follow) return followCommits({ deployment, run, revision: run?.spec.revisionID }, services, signal)
  return withPromotion(deployment, run, services, (chosen) => {
    const revision = run?.spec.revisionID ?? chosen
    return revision === undefined
      ? waitForPromotion(deployment, services)
      : followCommits({ deployment, run, revision }, services, signal)
  })
}

/** Brings the commit of a revision, or else the newest, into effect as soon as it may be. */
async function followCommits(
  {
    deployment,
    run,
    revision,
  }: { deployment: GitOpsDeployment; run: GitOpsDeploymentSyncRun | undefined; revision?: string | undefined },
  services: SyncServices,
  signal: AbortSignal,
): Promise<Next> {
  const { caches, following } = services
  const project = projectOf(deployment, caches)
  const { snapshot, failure } = following.of(refOf(deployment), wishOf(deployment, project, revision))
  if (!snapshot) {
    // Of a commit that is named no earlier one stands beside it.
    if (failure && revision !== undefined && !run) await unlessFailed(keepInEffect({ deployment, project }, services, signal))
    return waitForSource(deployment, { failure, run, project }, services)
  }
  noteArrival(deployment, snapshot, services)

  // Manual: new commits are seen, and applied only when a run asks for it.
  const asked = askedOf(deployment)
  if (deployment.spec.type === 'manual' && !run && asked === undefined) {
    services.wants.rest(ownerOf(deployment).id)
    return watchHealth({ deployment, snapshot }, services, signal)
  }
  const pass = { deployment, project, snapshot }
  if (run) return carryOut({ ...pass, run }, services, signal)

  const waiting = waitForTurn(deployment, snapshot, services, asked === undefined ? undefined : 'now')
  if (waiting) return waiting
  try {
    return await syncCommit({ ...pass, source: failure }, services, signal)
  } catch (thrown) {
    if (isFailure(thrown, 'invalid', 'too-large')) await unlessFailed(keepInEffect(pass, services, signal))
    // If the newest commit cannot be fetched, that is told instead of the older commit's error.
    throw isFailure(failure, 'too-large', 'invalid', 'not-found', 'forbidden') ? failure : thrown
  }
}

/** What waits is said by the status of the promotion. */
function waitForPromotion(
  deployment: GitOpsDeployment,
  { following, wants }: Pick<SyncServices, 'following' | 'wants'>,
): Promise<Next> {
  following.end(refOf(deployment))
  wants.rest(ownerOf(deployment).id)
  const message = `no commit of GitOpsDeployment ${deployment.spec.source.follow?.deployment} is taken yet; status.promotion says why`
  return Promise.resolve(
    settled({ status: { ...statusWhile(deployment, 'WaitingForPromotion', message), ...answerTo(deployment) } }),
  )
}

function waitForTurn(
  deployment: GitOpsDeployment,
  snapshot: Snapshot,
  { caches, crossNamespace, findOpening, context }: Pick<SyncServices, 'caches' | 'crossNamespace' | 'findOpening' | 'context'>,
  asked?: Rules['asked'],
): Next | undefined {
  const now = context.clock.now()
  const wait = syncWaitOf(deployment, snapshot, caches, { now, crossNamespace, asked, findOpening })
  if (!wait) return undefined
  return settled({ status: statusWhileWaiting(deployment, wait, snapshot), recheck: recheckAt(wait.until, now) })
}

const recheckAt = (until: number | undefined, now: number): number | undefined =>
  until === undefined ? undefined : Math.min(until - now, hours(24))

function noteArrival(
  { metadata }: GitOpsDeployment,
  { commitId, author, subject }: Snapshot,
  { arrivals, context: { clock } }: Pick<SyncServices, 'arrivals' | 'context'>,
): void {
  const key = keyOf(metadata)
  if (arrivals.get(key)?.commitId !== commitId) arrivals.set(key, { commitId, ...defined({ author, subject }), at: clock.now() })
}

/** A repository that nobody followed before is fetched first. */
const FETCHING = seconds(5)
const MOMENT = seconds(2)
const CROWDED = seconds(30)

/** Files that kas has already come within a moment; where hundreds ask at once, as long as others are still being served. */
function waitsBriefly({ metadata }: GitOpsDeployment, { heardAt }: Following, clock: Clock): boolean {
  const now = clock.now()
  const age = now - Date.parse(metadata.creationTimestamp ?? '')
  return age < FETCHING || (age < CROWDED && now - heardAt < MOMENT)
}

/** The stream rings when there is something; until then what was in effect stays. */
function waitForSource(
  deployment: GitOpsDeployment,
  { failure, run, project }: { failure: Failure | undefined; run: GitOpsDeploymentSyncRun | undefined; project: GitProject },
  { following, context }: Pick<SyncServices, 'following' | 'context'>,
): Next {
  if (failure && run && isFailure(failure, 'not-found', 'invalid', 'forbidden')) return failedRun(run, deployment, failure)
  if (failure) return settled({ status: statusFor(deployment, failure) })
  if (deployment.status?.sync?.revision !== undefined) return settled()
  // Then one status is written instead of two.
  if (waitsBriefly(deployment, following, context.clock)) return again({ after: MOMENT, why: 'kas was just asked for the files' })
  if (isEmpty(project)) {
    const message = sentenceOf(nothingPushed(project))
    tellOnce(context.events, deployment, { type: 'Warning', reason: 'RepositoryEmpty', message })
    return settled({ status: statusWhile(deployment, 'RepositoryEmpty', message) })
  }
  return settled({ status: statusWhile(deployment, 'WaitingForCommit', 'kas was asked for the files; nothing came yet') })
}

function failedRun(
  { metadata: { uid = '' } }: GitOpsDeploymentSyncRun,
  deployment: GitOpsDeployment,
  failure: Failure,
  commit?: Snapshot,
): Next {
  const revision = commit && { revision: commit.commitId }
  const lastSyncRun = { uid, result: 'Failed', message: sentenceOf(failure).slice(0, 4096), ...revision }
  return settled({ status: { ...statusFor(deployment, failure, commit), lastSyncRun } })
}

/** A run is over when all of its commit was tried: what it says then is its result. */
async function carryOut(
  pass: Pass & { run: GitOpsDeploymentSyncRun },
  services: SyncServices,
  signal: AbortSignal,
): Promise<Next> {
  const { run, deployment, snapshot } = pass
  const uid = run.metadata.uid ?? ''
  const revision = snapshot.commitId
  try {
    const waiting = waitForTurn(deployment, snapshot, services, run.spec.revisionID ? 'this-revision' : 'now')
    if (waiting) return waiting
    const next = await syncCommit(pass, services, signal)
    // Others have yet to say what they want of this commit, or objects of it to be healthy: it is not over.
    if (!next.status || isGoingOn(next.status)) return next
    const trouble = troubleOf(next.status)
    const waits = trouble ? undefined : deletionsThatWait(next.status)
    const lastSyncRun = trouble
      ? { uid, revision, result: 'Failed', message: trouble.message }
      : { uid, revision, result: 'Succeeded', ...(waits !== undefined && { message: waits }) }
    return { ...next, status: { ...next.status, lastSyncRun } }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (!isFailure(failure, 'invalid', 'forbidden', 'not-found', 'too-large')) throw failure
    return failedRun(run, deployment, failure, snapshot)
  }
}

/** What could not be applied, or waits for what is ill: nobody else would apply it once that is well. */
function troubleOf({ conditions }: StatusDraft): Statement | undefined {
  const [ready, error] = [conditionOf(conditions, 'Ready'), conditionOf(conditions, 'SyncError')]
  if (error?.status === 'True') return error
  return ready?.reason === 'Blocked' ? ready : undefined
}

/** All was applied, and yet a person has to decide: the run says so as well. */
function deletionsThatWait({ conditions = [], pendingPrune }: StatusDraft): string | undefined {
  const ready = conditionOf(conditions, 'Ready')
  return pendingPrune && ready?.message
    ? `applied, but deletions wait (${ready.reason}): ${ready.message}`.slice(0, 4096)
    : undefined
}
