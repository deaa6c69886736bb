import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  refOf,
  syncRunOf,
} from '../../api/index.ts'
import { defined, Failure, isFailure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { follow } from '../follow.ts'
import { reportTo } from '../report.ts'
import type { DeploymentContext } from './deployment.ts'
import { waitUntilReady } from './wait.ts'

/** Has the operator look at what a revision would do, and waits for the answer so many milliseconds. The run is taken back. */
export async function dryRun(
  context: DeploymentContext,
  revisionID: string | undefined,
  within: number,
): Promise<GitOpsDeploymentSyncRun> {
  const { kube, deployment } = context
  const run = await kube.create(
    GitOpsDeploymentSyncRuns,
    syncRunOf(deployment, 'diff', { dryRun: true, ...defined({ revisionID }) }),
  )
  try {
    return await waitUntilOver(context, run, within)
  } finally {
    // A person who may ask may not always take back; the operator keeps only the last ten anyway.
    await kube.delete(GitOpsDeploymentSyncRuns, refOf(run)).catch((failure: unknown) => {
      if (!isFailure(failure, 'forbidden')) throw failure
    })
  }
}

/** Follows a run until it is over, however it ended. */
function waitUntilOver(
  { shell, kube }: DeploymentContext,
  run: GitOpsDeploymentSyncRun,
  within: number,
): Promise<GitOpsDeploymentSyncRun> {
  let last = 'nobody has looked at it'
  return follow(
    { kube, kind: GitOpsDeploymentSyncRuns, ref: refOf(run), within, what: 'over', where: () => last, signal: shell.signal },
    (now) => {
      if (!now) throw new Failure('not-found', `GitOpsDeploymentSyncRun ${run.metadata.name} was deleted.`)
      const ready = conditionOf(now.status?.conditions, 'Ready')
      last = ready ? [ready.reason, ready.message].filter(Boolean).join(': ') : last
      return now.status?.phase === 'Succeeded' || now.status?.phase === 'Failed' ? now : undefined
    },
  )
}

/** Follows a run, and then the deployment until what the run has applied is Ready. */
export async function waitUntilApplied(
  context: DeploymentContext,
  run: GitOpsDeploymentSyncRun,
  within: number,
): Promise<ExitCode> {
  const over = await waitUntilOver(context, run, within)
  const fault = faultOfRun(over)
  if (fault !== undefined) {
    reportTo(context.shell).line(`berth: GitOpsDeploymentSyncRun ${run.metadata.name} failed: ${fault}`)
    return exitCodes.failed
  }
  const answered = ({ status }: GitOpsDeployment) => status?.lastSyncRun?.uid === run.metadata.uid
  return waitUntilReady(context, { within, answered, applied: over.status?.revision })
}

/** The reason why a run failed; nothing when it did not. */
export const faultOfRun = ({ status }: GitOpsDeploymentSyncRun): string | undefined =>
  status?.phase === 'Failed' ? (conditionOf(status.conditions, 'Ready')?.message ?? 'it does not say why') : undefined
