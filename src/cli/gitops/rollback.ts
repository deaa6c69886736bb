import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  nameOf,
  refOf,
  syncRunOf,
} from '../../api/index.ts'
import { Failure, seconds } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { follow } from '../follow.ts'
import { actionVerb } from '../verb.ts'
import {
  commandFor,
  type DeploymentContext,
  onDeployment,
  refuseSuspended,
  type WaitOptions,
  withDeployment,
  withWait,
} from './deployment.ts'
import { dryRun, faultOfRun, waitUntilApplied } from './sync-run.ts'

interface Options extends WaitOptions {
  to?: string
}

export const verb = actionVerb({
  description:
    'Go back to a commit that was in effect before. The GitOpsDeployment becomes manual, so that the next push does not undo it; a GitOpsDeploymentSyncRun applies the commit. A dry run looks first: where the commit cannot be had, nothing is changed. What the commit does not have is pruned as ever.',
  examples: [
    ['berth rollback shop -n team-a --wait', 'to the last one that was well'],
    ['berth rollback shop -n team-a --to 3f2a91c', 'to one of `berth history`'],
    ['berth resume shop -n team-a --automated', 'follow new commits again'],
  ],
  options: (command) =>
    withWait(
      withDeployment(command).option(
        '--to <revision>',
        'a revision of `berth history` (or a whole commit, branch or tag); else the last other one that describes objects and deletes nothing that needs a confirmation',
      ),
    ),
  run: onDeployment(rollback),
})

async function rollback(context: DeploymentContext, { to, wait, timeout }: Options): Promise<ExitCode> {
  const { shell, kube, deployment } = context
  refuseSuspended(deployment)
  const within = seconds(timeout)
  // The deployment is touched only when there is a commit to go back to.
  const revisionID =
    to === undefined ? await lastGood(context, within) : await seen(context, revisionMeant(deployment, to), within)
  await becomeManual(context, within)
  const run = await kube.create(GitOpsDeploymentSyncRuns, syncRunOf(deployment, 'rollback', { revisionID }))
  shell.say(`${nameOf(deployment)} goes back to ${revisionID}, by GitOpsDeploymentSyncRun ${run.metadata.name}.\n`)
  if (deployment.spec.type === 'automated')
    shell.say(`It is of type manual now. Follow new commits again with \`${commandFor('resume', deployment)} --automated\`.\n`)
  return wait ? waitUntilApplied(context, run, within) : exitCodes.ok
}

/** A revision that was named and cannot be had is a failure; deletions that would wait are told by the status. */
async function seen(context: DeploymentContext, revision: string, within: number): Promise<string> {
  const fault = faultOfRun(await dryRun(context, revision, within))
  if (fault === undefined) return revision
  throw new Failure('invalid', `${nameOf(context.deployment)} cannot go back to ${revision}: ${fault}`, {
    remedy: `Nothing was changed. See \`${commandFor('history', context.deployment)}\`.`,
  })
}

/** The newest that describes something and whose deletions no guard would hold back. */
async function lastGood(context: DeploymentContext, within: number): Promise<string> {
  for (const revision of otherRevisions(context.deployment)) {
    const run = await dryRun(context, revision, within)
    const why = objectionTo(run)
    if (why === undefined) return revision
    context.shell.say(`Commit ${revision.slice(0, 12)} is left out: ${why}.\n`)
  }
  throw new Failure('not-found', `${nameOf(context.deployment)} has no commit in its history that could be gone back to.`, {
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
async function becomeManual({ shell, kube, deployment }: DeploymentContext, within: number): Promise<void> {
  if (deployment.spec.type === 'manual') return
  const manual: GitOpsDeployment = await kube.patch(GitOpsDeployments, refOf(deployment), { spec: { type: 'manual' } })
  const { generation = 0 } = manual.metadata
  await follow(
    { kube, kind: GitOpsDeployments, ref: refOf(deployment), within, what: 'known to be manual', signal: shell.signal },
    (now) => {
      if (!now) throw new Failure('not-found', `${nameOf(deployment)} was deleted.`)
      return (now.status?.observedGeneration ?? 0) >= generation || undefined
    },
  )
}

const knownOf = ({ status }: GitOpsDeployment): string[] => [...new Set((status?.history ?? []).map(({ revision }) => revision))]

/** Pure. The revision that was asked for. */
export function revisionMeant(deployment: GitOpsDeployment, asked: string): string {
  const known = knownOf(deployment)
  const meant = known.filter((revision) => revision.startsWith(asked))
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  if (meant.length > 1) throw new Failure('invalid', `${asked} may be ${meant.join(' or ')}.`, { remedy: 'Write more digits.' })
  // Only kas could resolve a short commit that is not in the history, and it takes it for a branch.
  if (!/^[0-9a-f]{4,39}$/.test(asked)) return asked
  throw new Failure('not-found', `commit ${asked} is not in the history of ${nameOf(deployment)}.`, {
    remedy: `Write the whole commit, or one of \`${commandFor('history', deployment)}\`.`,
  })
}

/** Pure. Those that were well and are not in effect now, the newest first. */
export function otherRevisions(deployment: GitOpsDeployment): string[] {
  const others = knownOf(deployment).filter((revision) => revision !== deployment.status?.sync?.revision)
  if (others.length > 0) return others
  throw new Failure('not-found', `${nameOf(deployment)} knows of no other commit that was in effect as a whole.`, {
    remedy: 'Name one with --to.',
  })
}
