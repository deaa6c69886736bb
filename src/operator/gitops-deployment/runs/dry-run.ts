import {
  byUid,
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  isDeleting,
  keyOf,
  type Ref,
  refOf,
  sourcePath,
} from '../../../api/index.ts'
import {
  type Controller,
  type ControllerContext,
  createWakeups,
  type Next,
  type StatusDraft,
  sentenceOf,
  settled,
} from '../../../engines/controller/index.ts'
import { ignoreRules, type Previewed, preview } from '../../../engines/gitops/index.ts'
import type { Snapshot } from '../../../engines/render/index.ts'
import { type Buckets, createBuckets, Failure, isFailure, minutes, type Rate, seconds, timestamp } from '../../../std/index.ts'
import { choiceOf } from '../promotion/choice.ts'
import { chartOf } from '../services/chart.ts'
import { readDecryption } from '../services/decryptions.ts'
import { type GitOpsSettings, inventoryOf, ownerOf } from '../services/services.ts'
import { createTargets, destinationOf } from '../services/targets.ts'
import { readInputs } from '../services/variables.ts'
import { createFollowing, type Following } from '../source/following.ts'
import { isEmpty, nothingPushed, projectOf, wishOf } from '../source/repository.ts'
import { isConfirmed } from '../status/requests.ts'
import { byDeployment, byRepository, openCaches, type SyncCaches, sameRepository } from '../watch/caches.ts'
import { dryRunOf } from './dry-run-status.ts'
import { isOver, over, ready } from './sync-run.ts'

interface DryRunServices {
  context: ControllerContext
  caches: SyncCaches
  following: Following
  settings: GitOpsSettings
  /** Bytes that are looked through for secrets, by namespace. */
  search: Buckets
}

/** Each costs two requests for every object of the deployment. */
const AT_ONCE = 2

/**
 * Bytes of changes for one namespace, 20 to 70 ns each. Only where a deployment has variables that come from Secrets is anything
 * looked through: all of a large commit at once, and a twentieth of a processor after that.
 */
const SEARCH: Rate = { burst: 64 * 2 ** 20, perSecond: 2 ** 20 }

/** Answers GitOpsDeploymentSyncRuns with `dryRun`: tells what a sync would do, and does nothing. */
export function dryRuns(
  context: ControllerContext,
  settings: GitOpsSettings,
  rate: Rate = SEARCH,
): Controller<GitOpsDeploymentSyncRun> {
  const wakeups = createWakeups()
  const following = createFollowing({ source: settings.source, yaml: settings.yaml, clock: context.clock, wakeups })
  const search = createBuckets(rate, context.clock)
  const services: DryRunServices = { context, caches: openCaches(context), following, settings, search }
  return {
    name: 'gitops-dry-run',
    kind: GitOpsDeploymentSyncRuns,
    concurrency: AT_ONCE,
    reconcile: (run, signal) => reconcileDryRun(run, services, signal),
    watches: [{ kind: GitProjects, wakes: (project: GitProject) => dueRunsOf(project, services.caches) }],
    wakeups,
    gone(ref) {
      following.end(ref)
      return Promise.resolve(settled())
    },
    failed: (run, failure) =>
      isDue(run) ? looking(run, timestamp(context.clock.now()), 'Retrying', sentenceOf(failure)) : undefined,
  }
}

/** Of a repository that is found to be empty nothing else would tell them. */
const dueRunsOf = ({ spec }: GitProject, { deployments, runs }: SyncCaches): Ref[] =>
  deployments
    .by(byRepository.deployments, sameRepository(spec.url))
    .flatMap((deployment) => runs.by(byDeployment, keyOf(refOf(deployment))))
    .filter(isDue)
    .map(refOf)

const looking = ({ status }: GitOpsDeploymentSyncRun, now: string, reason: string, message: string): StatusDraft => ({
  ...status,
  phase: 'Running',
  startedAt: status?.startedAt ?? now,
  conditions: [ready('Unknown', reason, message)],
})

const isDue = (run: GitOpsDeploymentSyncRun): boolean => run.spec.dryRun === true && !isOver(run)

async function reconcileDryRun(run: GitOpsDeploymentSyncRun, services: DryRunServices, signal: AbortSignal): Promise<Next> {
  const { following, context, search } = services
  // A result is final. What is no dry run is told by sync-run.ts.
  if (!isDue(run)) {
    following.end(refOf(run))
    return run.spec.dryRun ? deleteWhenOld(run, context) : settled()
  }
  const now = timestamp(context.clock.now())
  try {
    const deployment = await deploymentOf(run, services)
    const project = projectOf(deployment, services.caches)
    const revision = run.spec.revisionID ?? promotedTo(deployment, services.caches, context.clock.now())
    const { snapshot, failure } = following.of(refOf(run), wishOf(deployment, project, revision))
    if (!snapshot) {
      if (failure) throw failure
      if (isEmpty(project) && isLate(run, now)) throw nothingPushed(project)
      const status = looking(run, now, 'WaitingForCommit', 'kas was asked for the files')
      return settled({ status, ...(isEmpty(project) && { recheck: MOMENT }) })
    }
    const wait = search.wait(run.metadata.namespace ?? '')
    if (wait > 0) return settled({ recheck: wait, status: looking(run, now, 'Waiting', BUSY) })
    const found = await look(deployment, snapshot, services, signal)
    const status = over(run, { result: 'Succeeded', revision: snapshot.commitId }, now)
    return settled({ status: { ...status, dryRun: dryRunOf(found) } })
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (!isFailure(failure, 'invalid', 'not-found', 'forbidden', 'unauthorized', 'too-large')) throw failure
    return settled({ status: over(run, { result: 'Failed', message: sentenceOf(failure).slice(0, 4096) }, now) })
  }
}

/** The commit that a run of it would apply, where it takes that from another one. */
function promotedTo(deployment: GitOpsDeployment, { deployments }: SyncCaches, now: number): string | undefined {
  if (!deployment.spec.source.follow) return undefined
  const { revision } = choiceOf(deployment, deployments, { now, isAsked: true })
  if (revision !== undefined) return revision
  throw new Failure('invalid', `no commit of GitOpsDeployment ${deployment.spec.source.follow.deployment} is taken yet`, {
    reason: 'WaitingForPromotion',
    remedy: 'Its status.promotion says why; or name a revision',
  })
}

/** The files come sooner than a GitProject says that its repository is empty no more. */
const MOMENT = seconds(2)

const isLate = ({ status }: GitOpsDeploymentSyncRun, now: string): boolean =>
  status?.startedAt !== undefined && Date.parse(now) - Date.parse(status.startedAt) >= MOMENT

const BUSY = 'dry runs of this namespace had very much to look through for secrets; this one comes after a pause'

/** An answer may be large, and every replica of the operator remembers it. */
const KEPT = minutes(10)

async function deleteWhenOld(run: GitOpsDeploymentSyncRun, { kube, clock }: ControllerContext): Promise<Next> {
  const left = Date.parse(run.status?.completedAt ?? '') + KEPT - clock.now()
  if (left > 0) return settled({ recheck: left })
  await kube.delete(GitOpsDeploymentSyncRuns, refOf(run), { uid: run.metadata.uid })
  return settled()
}

async function deploymentOf(run: GitOpsDeploymentSyncRun, { context: { kube } }: DryRunServices): Promise<GitOpsDeployment> {
  const { metadata, spec } = run
  const ref = { namespace: metadata.namespace, name: spec.gitopsDeploymentName }
  // Who changes it and asks then means it as it is now: what the watch has told may be older than the question.
  const deployment = await kube.get(GitOpsDeployments, ref)
  if (deployment && !isDeleting(deployment)) return deployment
  const what = deployment ? 'is being deleted' : 'does not exist in this namespace'
  throw new Failure('invalid', `spec.gitopsDeploymentName: GitOpsDeployment ${spec.gitopsDeploymentName} ${what}`, {
    remedy: 'Name one that is there, in another run',
  })
}

/** With clients and variables of its own: somebody asks now and then, and nothing of it is kept. */
async function look(
  deployment: GitOpsDeployment,
  snapshot: Snapshot,
  { context, caches, settings, search }: DryRunServices,
  signal: AbortSignal,
): Promise<Previewed> {
  const { kube, clock } = context
  const { spec } = deployment
  const targets = createTargets(settings.reach)
  try {
    const inputs = await readInputs(deployment, kube, settings.yaml)
    const request = {
      snapshot,
      path: sourcePath(spec.source),
      destination: destinationOf(deployment, caches, { kube, targets }),
      owner: ownerOf(deployment),
      inventory: inventoryOf(deployment, { context, caches }),
      ignore: spec.ignore && ignoreRules(spec.ignore),
      force: spec.force ?? false,
      knows: (otherOwner: string) => caches.deployments.by(byUid, otherOwner).length > 0,
      detectOnly: spec.drift === 'Detect',
      prune: spec.prune ?? true,
      guards: spec.pruneGuard,
      confirmed: isConfirmed(deployment, snapshot.commitId),
      variables: inputs.variables,
      secrets: inputs.secrets,
      chart: chartOf(deployment, inputs),
      decryption: await readDecryption(deployment, kube),
    }
    const searching = (bytes: number) => search.spend(deployment.metadata.namespace ?? '', bytes)
    return await preview(request, { render: settings.render, clock, searching }, signal)
  } finally {
    targets.close()
  }
}
