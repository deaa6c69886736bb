import type { Command } from 'commander'
import { annotations, type GitOpsDeployment, GitOpsDeployments, refOf } from '../../api/index.ts'
import { seconds, systemClock } from '../../std/index.ts'
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
import { createRun } from '../gitops/run.ts'
import { waitUntilApplied, waitUntilReady } from '../gitops/wait.ts'
import { examples } from '../options.ts'
import { wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends WaitOptions {
  confirmPrune?: boolean
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWait(
      withDeployment(command)
        .description(
          `Bring a GitOpsDeployment about now: everything is compared and tried again, whatever its sync windows say. It writes the annotation ${annotations.sync}; for one of type manual it creates a GitOpsDeploymentSyncRun.`,
        )
        .option('--confirm-prune', 'also let the deletions happen that a guard holds back; they are shown'),
    )
      .addHelpText(
        'after',
        examples(
          ['berth sync shop -n team-a --wait', 'now, and see how it ends'],
          ['berth sync shop -n team-a --confirm-prune', 'delete what waits for a confirmation'],
        ),
      )
      .action(finish((name: string, options: Options) => withDeploymentAtHand(shell, name, options, (at) => sync(at, options))))
  },
}

async function sync(at: AtHand, options: Options): Promise<ExitCode> {
  const { shell, deployment } = at
  refuseSuspended(deployment)
  const confirmed = options.confirmPrune ? confirmation(at) : undefined
  const within = seconds(options.timeout)
  const answered = deployment.spec.type === 'manual' ? await byRun(at, confirmed) : await byAnnotation(at, confirmed)
  if (options.wait) return answered(within)
  shell.print(`${titleOf(deployment)} is being synchronised. See how it does with \`${berth('tree', deployment)}\`.`)
  return exitCodes.ok
}

/** Waits so many milliseconds for what was asked. */
type Answered = (within: number) => Promise<ExitCode>

async function byAnnotation(at: AtHand, confirmed: string | undefined): Promise<Answered> {
  const word = new Date(systemClock.now()).toISOString()
  const patch = { metadata: { annotations: { ...confirming(confirmed), [annotations.sync]: word } } }
  await at.kube.patch(GitOpsDeployments, refOf(at.deployment), patch)
  return (within) => waitUntilReady(at, { within, answered: ({ status }) => status?.lastHandledSync === word })
}

/** What is confirmed is applied, and no newer commit: nobody has seen what that would delete. */
async function byRun(at: AtHand, confirmed: string | undefined): Promise<Answered> {
  const { shell, kube, deployment } = at
  if (confirmed !== undefined)
    await kube.patch(GitOpsDeployments, refOf(deployment), { metadata: { annotations: confirming(confirmed) } })
  const run = await createRun(kube, deployment, { what: 'sync', revisionID: confirmed })
  shell.say(`GitOpsDeploymentSyncRun ${run.metadata.namespace}/${run.metadata.name} was created.\n`)
  return (within) => waitUntilApplied(at, run, within)
}

const confirming = (commit: string | undefined) => (commit === undefined ? {} : { [annotations.confirmPrune]: commit })

/** The commit that waits and no other: what a later one deletes is a new question. */
function confirmation({ shell, deployment }: AtHand): string | undefined {
  const pending = deployment.status?.pendingPrune
  if (!pending) {
    shell.say(`No deletion of ${titleOf(deployment)} waits for a confirmation.\n`)
    return undefined
  }
  shell.say(`${confirmedText(pending)}\n`)
  return pending.revision
}

type Pending = NonNullable<NonNullable<GitOpsDeployment['status']>['pendingPrune']>

function confirmedText({ count, reason, message = '', revision }: Pending): string {
  const head = `Confirmed for commit ${revision.slice(0, 12)}: ${count === 1 ? 'one deletion' : `${count} deletions`} (${reason}).`
  // How to confirm is no news any more.
  const what = message.slice(Math.max(message.lastIndexOf('It deletes '), 0))
  return [head, ...wrap(what, 76).map((line) => `  ${line}`)].join('\n')
}
