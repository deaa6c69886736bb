import { type GitOpsDeploymentSyncRun, GitOpsDeploymentSyncRuns, refOf } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import type { AtHand } from './deployment.ts'
import { createRun } from './run.ts'
import { waitUntilOver } from './wait.ts'

/** Has the operator look at what a revision would do, and waits for the answer so many milliseconds. The run is taken back. */
export async function lookAt(at: AtHand, revisionID: string | undefined, within: number): Promise<GitOpsDeploymentSyncRun> {
  const asked = await createRun(at.kube, at.deployment, { what: 'diff', dryRun: true, revisionID })
  return waitUntilOver(at, asked, within).finally(() => remove(at, asked))
}

/** Whoever may ask may not always take back; the operator keeps only the last ten anyway. */
async function remove({ kube }: AtHand, run: GitOpsDeploymentSyncRun): Promise<void> {
  try {
    await kube.delete(GitOpsDeploymentSyncRuns, refOf(run))
  } catch (failure) {
    if (!isFailure(failure, 'forbidden')) throw failure
  }
}
