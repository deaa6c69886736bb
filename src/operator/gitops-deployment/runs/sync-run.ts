import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  type GitOpsDeploymentSyncRunStatus,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  keyOf,
  type Ref,
  refOf,
} from '../../../api/index.ts'
import {
  type Controller,
  type ControllerContext,
  type Next,
  type StatusDraft,
  settled,
} from '../../../engines/controller/index.ts'
import { timestamp } from '../../../std/index.ts'
import { byDeployment, type SyncCaches } from '../watch/caches.ts'

type RunCaches = Pick<SyncCaches, 'runs'> & { deployments: Pick<SyncCaches['deployments'], 'get'> }

/** So many runs that are over stay to be looked at, of each deployment. */
const KEPT = 10

export const isOver = ({ status }: GitOpsDeploymentSyncRun): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** The oldest run that waits for this deployment. The next one begins only when the one before has its result. */
export function runToCarryOut(
  deployment: GitOpsDeployment,
  { runs }: Pick<SyncCaches, 'runs'>,
): GitOpsDeploymentSyncRun | undefined {
  const done = deployment.status?.lastSyncRun?.uid
  const waiting = runs
    .by(byDeployment, keyOf(refOf(deployment)))
    .filter((run) => !isOver(run) && !run.spec.dryRun && mistakeOf(run, deployment) === undefined)
  if (waiting.some(({ metadata }) => metadata.uid === done)) return undefined
  return waiting.sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))[0]
}

const ageOf = ({ metadata }: GitOpsDeploymentSyncRun): string => `${metadata.creationTimestamp} ${metadata.name}`

/**
 * Of runs of one deployment those that nobody needs any more: all that are over but the last ten that applied something, the last ten that
 * only looked, and the last ten approvals that were carried out. Whoever asks often would take the others out of sight.
 */
export function superfluous(all: readonly GitOpsDeploymentSyncRun[]): GitOpsDeploymentSyncRun[] {
  const end = (run: GitOpsDeploymentSyncRun) => `${run.status?.completedAt} ${ageOf(run)}`
  const ended = all.filter(isOver).sort((a, b) => (end(a) < end(b) ? 1 : -1))
  const sortOf = ({ spec, status }: GitOpsDeploymentSyncRun) =>
    spec.dryRun ? 'look' : spec.approval && status?.phase === 'Succeeded' ? 'approval' : 'sync'
  return Object.values(Object.groupBy(ended, sortOf)).flatMap((runs) => runs.slice(KEPT))
}

/** Tells each GitOpsDeploymentSyncRun how it goes, and removes those that are long over. The work itself is the deployment's. */
export function syncRuns(context: ControllerContext): Controller<GitOpsDeploymentSyncRun> {
  const caches = { runs: context.caches.of(GitOpsDeploymentSyncRuns), deployments: context.caches.of(GitOpsDeployments) }
  const runsOf = (ref: Ref): Ref[] => caches.runs.by(byDeployment, keyOf(ref)).map(refOf)
  return {
    name: 'gitops-sync-run',
    kind: GitOpsDeploymentSyncRuns,
    watches: [
      { kind: GitOpsDeployments, wakes: (deployment: GitOpsDeployment) => runsOf(refOf(deployment)) },
      // The end of one is the beginning of another.
      { kind: GitOpsDeploymentSyncRuns, wakes: (run: GitOpsDeploymentSyncRun) => runsOf(deploymentOf(run)) },
    ],
    reconcile: (run) => reconcileRun(run, caches, context),
  }
}

const deploymentOf = ({ metadata, spec }: GitOpsDeploymentSyncRun): Ref => ({
  namespace: metadata.namespace,
  name: spec.gitopsDeploymentName,
})

async function reconcileRun(run: GitOpsDeploymentSyncRun, caches: RunCaches, context: ControllerContext): Promise<Next> {
  // A result is final: the deployment may long since have moved on.
  if (isOver(run)) return removeOld(run, caches, context)
  // What only looks is answered by dry-run.ts.
  if (run.spec.dryRun) return settled()

  const now = timestamp(context.clock.now())
  const known = caches.deployments.get(deploymentOf(run))
  // A failure is final, and what was asked for may be younger than what the watch has told of the deployment.
  const isFine = known && mistakeOf(run, known) === undefined
  const deployment = isFine ? known : await context.kube.get(GitOpsDeployments, deploymentOf(run))
  const mistake = mistakeOf(run, deployment)
  if (mistake !== undefined || !deployment)
    return settled({ status: over(run, { result: 'Failed', message: mistake ?? '' }, now) })
  // From then on it goes with its deployment.
  const object = await ownedBy(deployment, run, context)
  const last = deployment.status?.lastSyncRun
  if (last && last.uid === run.metadata.uid) return settled({ object, status: over(run, last, now) })
  return settled({ object, status: underWay(run, obstacleTo(run, deployment, caches), now) })
}

async function removeOld(run: GitOpsDeploymentSyncRun, { runs }: RunCaches, { kube }: ControllerContext): Promise<Next> {
  const { uid } = run.metadata
  const isOld = superfluous(runs.by(byDeployment, keyOf(deploymentOf(run)))).some(({ metadata }) => metadata.uid === uid)
  if (isOld) await kube.delete(GitOpsDeploymentSyncRuns, refOf(run), { uid })
  return settled()
}

function ownedBy(
  { apiVersion, kind, metadata: { name, uid } }: GitOpsDeployment,
  run: GitOpsDeploymentSyncRun,
  { kube }: ControllerContext,
): Promise<GitOpsDeploymentSyncRun> {
  const { ownerReferences = [], resourceVersion } = run.metadata
  if (uid === undefined || ownerReferences.some((owner) => owner.uid === uid)) return Promise.resolve(run)
  const metadata = { resourceVersion, ownerReferences: [...ownerReferences, { apiVersion, kind, name, uid }] }
  return kube.patch(GitOpsDeploymentSyncRuns, refOf(run), { metadata })
}

function mistakeOf({ metadata, spec }: GitOpsDeploymentSyncRun, deployment: GitOpsDeployment | undefined): string | undefined {
  if (!deployment)
    return `spec.gitopsDeploymentName: there is no GitOpsDeployment ${spec.gitopsDeploymentName} in this namespace. Create it, then another run`
  // It was carried out: what was changed since is no mistake of it.
  if (deployment.status?.lastSyncRun?.uid === metadata.uid) return undefined
  const outdated = spec.approval && outdatedIn(spec.approval, spec.revisionID, deployment)
  if (outdated !== undefined) return outdated
  if (spec.revisionID && deployment.spec.type === 'automated' && !deployment.spec.source.follow)
    return `spec.revisionID cannot be applied: GitOpsDeployment ${spec.gitopsDeploymentName} is of type automated and follows its targetRevision. Make it manual, then create another run`
  return undefined
}

/** What was seen before it was approved was another change than the one that it would be by now. */
function outdatedIn(
  { from, generation }: NonNullable<GitOpsDeploymentSyncRun['spec']['approval']>,
  to: string | undefined,
  { metadata, status }: GitOpsDeployment,
): string | undefined {
  const { revision = '' } = status?.sync ?? {}
  // Half of it may be applied by now.
  if (revision === to && from !== to) return undefined
  if (revision !== from)
    return `spec.approval.from: ${from || 'nothing'} was in effect when it was looked at, and by now ${revision} is. Look again, then approve again`
  return generation === undefined || generation === metadata.generation
    ? undefined
    : 'spec.approval.generation: the spec of the GitOpsDeployment was changed since it was looked at. Look again, then approve again'
}

/** Why it has not begun. */
function obstacleTo(run: GitOpsDeploymentSyncRun, deployment: GitOpsDeployment, caches: RunCaches): string | undefined {
  if (deployment.spec.suspend) return `GitOpsDeployment ${deployment.metadata.name} is suspended; set spec.suspend to false`
  const next = runToCarryOut(deployment, caches)
  if (next?.metadata.uid === run.metadata.uid) return undefined
  return next ? `GitOpsDeploymentSyncRun ${next.metadata.name} was first` : 'another GitOpsDeploymentSyncRun ends first'
}

const underWay = ({ status }: GitOpsDeploymentSyncRun, obstacle: string | undefined, now: string): StatusDraft =>
  obstacle === undefined
    ? { ...status, phase: 'Running', startedAt: status?.startedAt ?? now, conditions: [ready('Unknown', 'Running', '')] }
    : { ...status, phase: 'Pending', conditions: [ready('Unknown', 'Pending', obstacle)] }

type Result = Pick<NonNullable<NonNullable<GitOpsDeployment['status']>['lastSyncRun']>, 'result' | 'revision' | 'message'>

export function over({ status }: GitOpsDeploymentSyncRun, { result, revision, message = '' }: Result, now: string): StatusDraft {
  const { conditions: _, ...rest }: GitOpsDeploymentSyncRunStatus = status ?? {}
  return {
    ...rest,
    phase: result,
    ...(revision !== undefined && { revision }),
    startedAt: status?.startedAt ?? now,
    completedAt: now,
    conditions: [ready(result === 'Succeeded' ? 'True' : 'False', result, message)],
  }
}

export const ready = (status: 'True' | 'False' | 'Unknown', reason: string, message: string) => ({
  type: 'Ready',
  status,
  reason,
  message,
})
