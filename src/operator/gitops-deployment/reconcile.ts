import { type GitOpsDeployment, type GitOpsDeploymentSyncRun, isDeleting, keyOf, refOf } from '../../api/index.ts'
import { again, type Next, type StatusDraft, sentenceOf, settled } from '../../engines/controller/index.ts'
import type { Snapshot } from '../../engines/render/index.ts'
import { Failure, hours, isFailure, seconds } from '../../std/index.ts'
import { bringAbout, type Pass, watchHealth } from './bring-about.ts'
import { keepFinalizer } from './deletion-policy.ts'
import { holdOf, type Rules } from './hold.ts'
import { releaseFormer, remove } from './removal.ts'
import { projectOf } from './repository.ts'
import { ownerOf, type Shop } from './shop.ts'
import { statusFor, statusWhile, statusWhileHeld } from './status.ts'
import { askedOf } from './sync-request.ts'
import { runToCarryOut } from './sync-run.ts'
import { wishOf } from './wish.ts'

/** Keeps a directory of a repository in effect in its destination. */
export async function reconcileDeployment(deployment: GitOpsDeployment, shop: Shop, signal: AbortSignal): Promise<Next> {
  const { books, following } = shop
  await releaseFormer(refOf(deployment), deployment, shop, signal)
  if (isDeleting(deployment)) return remove(deployment, shop, signal)

  // A policy binds the deletion only from then on, so it comes before the first object; our write rings again.
  if (await keepFinalizer(deployment, shop)) return settled()

  // Suspended means just that: nothing is read and nothing is written.
  if (deployment.spec.suspend) {
    following.end(refOf(deployment))
    shop.ledgers.end(ownerOf(deployment).id)
    shop.objects.release(keyOf(deployment.metadata))
    shop.wants.rest(ownerOf(deployment).id)
    return settled({ status: statusWhile(deployment, 'Suspended', 'spec.suspend is true; nothing is applied') })
  }

  const run = runToCarryOut(deployment, books)
  const project = projectOf(deployment, books)
  const { snapshot, failure } = following.of(refOf(deployment), wishOf(deployment, project, run?.spec.revisionID))
  if (!snapshot) return waitForSource(deployment, { failure, run, isBrief: waitsBriefly(deployment, shop) })
  noteArrival(deployment, snapshot, shop)

  // Manual: new commits are seen, and applied only when a run asks for it.
  const asked = askedOf(deployment)
  if (deployment.spec.type === 'manual' && !run && asked === undefined) {
    shop.wants.rest(ownerOf(deployment).id)
    return watchHealth({ deployment, snapshot }, shop, signal)
  }
  const pass = { deployment, project, snapshot }
  if (run) return carryOut({ ...pass, run }, shop, signal)

  const held = holdBack(deployment, snapshot, shop, asked === undefined ? undefined : 'now')
  if (held) return held
  try {
    return await bringAbout({ ...pass, source: failure }, shop, signal)
  } catch (thrown) {
    // Of what is wrong with an older commit nobody wants to hear who has pushed one that cannot be had.
    throw isFailure(failure, 'too-large', 'invalid', 'not-found', 'forbidden') ? failure : thrown
  }
}

function holdBack(deployment: GitOpsDeployment, snapshot: Snapshot, shop: Shop, asked?: Rules['asked']): Next | undefined {
  const now = shop.workshop.clock.now()
  const { books, crossNamespace, findOpening } = shop
  const hold = holdOf(deployment, snapshot, books, { now, crossNamespace, asked, findOpening })
  if (!hold) return undefined
  return settled({ status: statusWhileHeld(deployment, hold, snapshot), recheck: recheckAt(hold.until, now) })
}

const recheckAt = (until: number | undefined, now: number): number | undefined =>
  until === undefined ? undefined : Math.min(until - now, hours(24))

function noteArrival({ metadata }: GitOpsDeployment, { commitId }: Snapshot, { arrivals, workshop: { clock } }: Shop): void {
  const key = keyOf(metadata)
  if (arrivals.get(key)?.commitId !== commitId) arrivals.set(key, { commitId, at: clock.now() })
}

/** A repository that nobody followed before is fetched first. */
const FETCHING = seconds(5)
const MOMENT = seconds(2)
const CROWDED = seconds(30)

/** What is known already comes within a moment; where hundreds ask at once, as long as others are still being served. */
function waitsBriefly({ metadata }: GitOpsDeployment, { following, workshop: { clock } }: Shop): boolean {
  const now = clock.now()
  const age = now - Date.parse(metadata.creationTimestamp ?? '')
  return age < FETCHING || (age < CROWDED && now - following.heardAt < MOMENT)
}

/** The stream rings when there is something; until then what was in effect stays. */
function waitForSource(
  deployment: GitOpsDeployment,
  { failure, run, isBrief }: { failure: Failure | undefined; run: GitOpsDeploymentSyncRun | undefined; isBrief: boolean },
): Next {
  if (failure && run && isFailure(failure, 'not-found', 'invalid', 'forbidden')) return failedRun(run, deployment, failure)
  if (failure) return settled({ status: statusFor(deployment, failure) })
  if (deployment.status?.sync?.revision !== undefined) return settled()
  // Then one status is written instead of two.
  if (isBrief) return again({ after: MOMENT, why: 'kas was just asked for the files' })
  return settled({ status: statusWhile(deployment, 'WaitingForCommit', 'kas was asked for the files; nothing came yet') })
}

function failedRun(
  { metadata: { uid = '' } }: GitOpsDeploymentSyncRun,
  deployment: GitOpsDeployment,
  failure: Failure,
  revision?: string,
): Next {
  const lastSyncRun = { uid, result: 'Failed', message: sentenceOf(failure).slice(0, 4096), ...(revision && { revision }) }
  return settled({ status: { ...statusFor(deployment, failure, revision), lastSyncRun } })
}

/** A run is over when its commit was tried once: what it says then is its result. */
async function carryOut(pass: Pass & { run: GitOpsDeploymentSyncRun }, shop: Shop, signal: AbortSignal): Promise<Next> {
  const { run, deployment, snapshot } = pass
  const uid = run.metadata.uid ?? ''
  const revision = snapshot.commitId
  try {
    const held = holdBack(deployment, snapshot, shop, run.spec.revisionID ? 'this-revision' : 'now')
    if (held) return held
    const next = await bringAbout(pass, shop, signal)
    // Others have yet to say what they want of this commit: it is not over.
    if (!next.status) return next
    const trouble = next.status.conditions?.find(({ type }) => type === 'SyncError')
    const failed = trouble?.status === 'True'
    const waits = failed ? undefined : deletionsThatWait(next.status)
    const lastSyncRun = failed
      ? { uid, revision, result: 'Failed', message: trouble.message }
      : { uid, revision, result: 'Succeeded', ...(waits !== undefined && { message: waits }) }
    return { ...next, status: { ...next.status, lastSyncRun } }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (!isFailure(failure, 'invalid', 'forbidden', 'not-found', 'too-large')) throw failure
    return failedRun(run, deployment, failure, revision)
  }
}

/** All was applied, and yet a person has to decide: the run says so as well. */
function deletionsThatWait({ conditions = [], pendingPrune }: StatusDraft): string | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready')
  return pendingPrune && ready?.message
    ? `applied, but deletions wait (${ready.reason}): ${ready.message}`.slice(0, 4096)
    : undefined
}
