import {
  annotations,
  type GitOpsDeployment,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  nameOf,
  refOf,
  syncRunOf,
} from '../../api/index.ts'
import { defined, seconds, systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { wrap } from '../output.ts'
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
import { waitUntilApplied } from './sync-run.ts'
import { waitUntilReady } from './wait.ts'

interface SyncOptions extends WaitOptions {
  confirmPrune?: boolean
  /** The commit that somebody was shown; one of type manual applies it and no newer one. */
  revision?: string
}

export const verb = actionVerb({
  description: `Bring a GitOpsDeployment about now: everything is compared and tried again, whatever its sync windows say. It writes the annotation ${annotations.sync}; for one of type manual it creates a GitOpsDeploymentSyncRun.`,
  examples: [
    ['berth sync shop -n team-a --wait', 'now, and see how it ends'],
    ['berth sync shop -n team-a --confirm-prune', 'delete what waits for a confirmation'],
  ],
  options: (command) =>
    withWait(
      withDeployment(command).option('--confirm-prune', 'also let the deletions happen that a guard holds back; they are shown'),
    ),
  run: onDeployment(syncDeployment),
})

/** Asks for it now, and waits for how it ends where that is asked for. */
export async function syncDeployment(context: DeploymentContext, options: SyncOptions): Promise<ExitCode> {
  const { shell, deployment } = context
  refuseSuspended(deployment)
  const confirmed = options.confirmPrune ? confirmation(context) : undefined
  const within = seconds(options.timeout)
  const answered =
    deployment.spec.type === 'manual' ? await byRun(context, confirmed, options.revision) : await byAnnotation(context, confirmed)
  if (options.wait) return answered(within)
  shell.print(`${nameOf(deployment)} is being synchronised. See how it does with \`${commandFor('tree', deployment)}\`.`)
  return exitCodes.ok
}

/** Waits so many milliseconds for what was asked. */
type Answered = (within: number) => Promise<ExitCode>

async function byAnnotation(context: DeploymentContext, confirmed: string | undefined): Promise<Answered> {
  const word = new Date(systemClock.now()).toISOString()
  const patch = { metadata: { annotations: { ...confirming(confirmed), [annotations.sync]: word } } }
  await context.kube.patch(GitOpsDeployments, refOf(context.deployment), patch)
  return (within) => waitUntilReady(context, { within, answered: ({ status }) => status?.lastHandledSync === word })
}

/** The run applies the commit that was confirmed or shown and no newer one: nobody has seen what that would do. */
async function byRun(context: DeploymentContext, confirmed: string | undefined, shown: string | undefined): Promise<Answered> {
  const { shell, kube, deployment } = context
  if (confirmed !== undefined)
    await kube.patch(GitOpsDeployments, refOf(deployment), { metadata: { annotations: confirming(confirmed) } })
  const run = await kube.create(
    GitOpsDeploymentSyncRuns,
    syncRunOf(deployment, 'sync', defined({ revisionID: confirmed ?? shown })),
  )
  shell.say(`GitOpsDeploymentSyncRun ${run.metadata.namespace}/${run.metadata.name} was created.\n`)
  return (within) => waitUntilApplied(context, run, within)
}

const confirming = (commit: string | undefined) => (commit === undefined ? {} : { [annotations.confirmPrune]: commit })

/** The commit that waits and no other: what a later one deletes is a new question. */
function confirmation({ shell, deployment }: DeploymentContext): string | undefined {
  const pending = deployment.status?.pendingPrune
  if (!pending) {
    shell.say(`No deletion of ${nameOf(deployment)} waits for a confirmation.\n`)
    return undefined
  }
  shell.say(`${confirmedText(pending)}\n`)
  return pending.revision
}

type Pending = NonNullable<NonNullable<GitOpsDeployment['status']>['pendingPrune']>

function confirmedText({ count, reason, message = '', revision }: Pending): string {
  const head = `Confirmed for commit ${revision.slice(0, 12)}: ${count === 1 ? 'one deletion' : `${count} deletions`} (${reason}).`
  // The rest of the message says how to confirm, which has just been done.
  const what = message.slice(Math.max(message.lastIndexOf('It deletes '), 0))
  return [head, ...wrap(what, 76).map((line) => `  ${line}`)].join('\n')
}
