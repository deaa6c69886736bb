import type { Command } from 'commander'
import { type GitOpsDeployment, type GitOpsDeploymentSyncRun, GitOpsDeployments, refOf } from '../../api/index.ts'
import { Failure, seconds } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import {
  type AtHand,
  berth,
  refuseSuspended,
  titleOf,
  type WaitOptions,
  withDeployment,
  withDeploymentAtHand,
  withWait,
} from '../gitops/deployment.ts'
import { follow } from '../gitops/follow.ts'
import { lookAt } from '../gitops/look.ts'
import { otherRevisions, revisionMeant } from '../gitops/revision.ts'
import { createRun } from '../gitops/run.ts'
import { faultOfRun, waitUntilApplied } from '../gitops/wait.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends WaitOptions {
  to?: string
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWait(
      withDeployment(command)
        .description(
          'Go back to a commit that was in effect before. The GitOpsDeployment becomes manual, so that the next push does not undo it; a GitOpsDeploymentSyncRun applies the commit. A dry run looks first: where the commit cannot be had, nothing is changed. What the commit does not have is pruned as ever.',
        )
        .option(
          '--to <revision>',
          'a revision of `berth history` (or a whole commit, branch or tag); else the last other one that describes objects and deletes nothing that needs a confirmation',
        ),
    )
      .addHelpText(
        'after',
        examples(
          ['berth rollback shop -n team-a --wait', 'to the last one that was well'],
          ['berth rollback shop -n team-a --to 3f2a91c', 'to one of `berth history`'],
          ['berth resume shop -n team-a --automated', 'follow new commits again'],
        ),
      )
      .action(
        finish((name: string, options: Options) => withDeploymentAtHand(shell, name, options, (at) => rollback(at, options))),
      )
  },
}

async function rollback(at: AtHand, { to, wait, timeout }: Options): Promise<ExitCode> {
  const { shell, kube, deployment } = at
  refuseSuspended(deployment)
  const within = seconds(timeout)
  // The deployment is touched only when there is a commit to go back to.
  const revisionID = to === undefined ? await lastGood(at, within) : await seen(at, revisionMeant(deployment, to), within)
  await becomeManual(at, within)
  const run = await createRun(kube, deployment, { what: 'rollback', revisionID })
  shell.say(`${titleOf(deployment)} goes back to ${revisionID}, by GitOpsDeploymentSyncRun ${run.metadata.name}.\n`)
  shell.say(`It is of type manual now. Follow new commits again with \`${berth('resume', deployment)} --automated\`.\n`)
  return wait ? waitUntilApplied(at, run, within) : exitCodes.ok
}

/** Whoever names a revision is told when it cannot be had; deletions that would wait are told by the status. */
async function seen(at: AtHand, revision: string, within: number): Promise<string> {
  const fault = faultOfRun(await lookAt(at, revision, within))
  if (fault === undefined) return revision
  throw new Failure('invalid', `${titleOf(at.deployment)} cannot go back to ${revision}: ${fault}`, {
    remedy: `Nothing was changed. See \`${berth('history', at.deployment)}\`.`,
  })
}

/** The newest that describes something and whose deletions no guard would hold back. */
async function lastGood(at: AtHand, within: number): Promise<string> {
  for (const revision of otherRevisions(at.deployment)) {
    const run = await lookAt(at, revision, within)
    const why = objectionTo(run)
    if (why === undefined) return revision
    at.shell.say(`Commit ${revision.slice(0, 12)} is left out: ${why}.\n`)
  }
  throw new Failure('not-found', `${titleOf(at.deployment)} has no commit in its history that could be gone back to.`, {
    remedy: 'Nothing was changed. Name one with --to.',
  })
}

/** Pure. Why nobody would want to go back to a commit without having named it. */
export function objectionTo(run: GitOpsDeploymentSyncRun): string | undefined {
  const { create = 0, change = 0, unchanged = 0, hold = 0 } = run.status?.dryRun ?? {}
  if (faultOfRun(run) !== undefined) return faultOfRun(run)?.replace(/\.$/, '')
  if (create + change + unchanged === 0) return 'it describes no objects'
  return hold > 0 ? `${hold === 1 ? 'a deletion' : `${hold} deletions`} would wait for a confirmation` : undefined
}

/** The operator has to know before the run comes: a run with a revision is refused for one that is automated. */
async function becomeManual({ shell, kube, deployment }: AtHand, within: number): Promise<void> {
  if (deployment.spec.type === 'manual') return
  const manual: GitOpsDeployment = await kube.patch(GitOpsDeployments, refOf(deployment), { spec: { type: 'manual' } })
  const { generation = 0 } = manual.metadata
  await follow(
    { kube, kind: GitOpsDeployments, ref: refOf(deployment), within, what: 'known to be manual', signal: shell.signal },
    (now) => {
      if (!now) throw new Failure('not-found', `${titleOf(deployment)} was deleted.`)
      return (now.status?.observedGeneration ?? 0) >= generation || undefined
    },
  )
}
