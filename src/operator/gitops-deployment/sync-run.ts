import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  type GitOpsDeploymentSyncRunStatus,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  keyOf,
  refOf,
} from '../../api/index.ts'
import { type Controller, type Next, type StatusDraft, settled, type Workshop } from '../../engines/controller/index.ts'
import { timestamp } from '../../std/index.ts'
import { type Books, BY, runsIn } from './books.ts'

const isOver = ({ status }: GitOpsDeploymentSyncRun): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** The oldest run that waits for this deployment. The next one begins only when the one before has its result. */
export function runToCarryOut(deployment: GitOpsDeployment, { runs }: Pick<Books, 'runs'>): GitOpsDeploymentSyncRun | undefined {
  const done = deployment.status?.lastSyncRun?.uid
  const waiting = runs
    .by(BY.deployment, keyOf(refOf(deployment)))
    .filter((run) => !isOver(run) && mistakeOf(run, deployment) === undefined)
  if (waiting.some(({ metadata }) => metadata.uid === done)) return undefined
  return waiting.sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))[0]
}

const ageOf = ({ metadata }: GitOpsDeploymentSyncRun): string => `${metadata.creationTimestamp} ${metadata.name}`

/** Tells each GitOpsDeploymentSyncRun how it goes. The work itself is the deployment's. */
export function syncRuns(workshop: Workshop): Controller<GitOpsDeploymentSyncRun> {
  const books = { runs: runsIn(workshop.caches), deployments: workshop.caches.of(GitOpsDeployments) }
  return {
    name: 'gitops-sync-run',
    kind: GitOpsDeploymentSyncRuns,
    watches: [
      {
        kind: GitOpsDeployments,
        wakes: (deployment: GitOpsDeployment) => books.runs.by(BY.deployment, keyOf(refOf(deployment))).map(refOf),
      },
    ],
    reconcile: (run) => Promise.resolve(reconcileRun(run, books, timestamp(workshop.clock.now()))),
  }
}

function reconcileRun(run: GitOpsDeploymentSyncRun, { deployments }: Pick<Books, 'deployments'>, now: string): Next {
  // A result is final: the deployment may long since have moved on.
  if (isOver(run)) return settled()
  const deployment = deployments.get({ namespace: run.metadata.namespace, name: run.spec.gitopsDeploymentName })
  const mistake = mistakeOf(run, deployment)
  if (mistake !== undefined) return settled({ status: over(run, { result: 'Failed', message: mistake }, now) })
  const last = deployment?.status?.lastSyncRun
  if (last && last.uid === run.metadata.uid) return settled({ status: over(run, last, now) })
  return settled({
    status: {
      ...run.status,
      phase: 'Running',
      startedAt: run.status?.startedAt ?? now,
      conditions: [ready('Unknown', 'Running', '')],
    },
  })
}

function mistakeOf({ spec }: GitOpsDeploymentSyncRun, deployment: GitOpsDeployment | undefined): string | undefined {
  if (!deployment)
    return `spec.gitopsDeploymentName: there is no GitOpsDeployment ${spec.gitopsDeploymentName} in this namespace. Create it, then another run`
  if (spec.revisionID && deployment.spec.type === 'automated')
    return `spec.revisionID cannot be applied: GitOpsDeployment ${spec.gitopsDeploymentName} is of type automated and follows its targetRevision. Make it manual, then create another run`
  return undefined
}

type Result = Pick<NonNullable<NonNullable<GitOpsDeployment['status']>['lastSyncRun']>, 'result' | 'revision' | 'message'>

function over({ status }: GitOpsDeploymentSyncRun, { result, revision, message = '' }: Result, now: string): StatusDraft {
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

const ready = (status: 'True' | 'False' | 'Unknown', reason: string, message: string) => ({
  type: 'Ready',
  status,
  reason,
  message,
})
