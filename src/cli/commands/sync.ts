import type { Command } from 'commander'
import { annotations, type GitOpsDeployment, GitOpsDeployments, refOf } from '../../api/index.ts'
import { Failure, seconds, systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import {
  type AtHand,
  berth,
  type DeploymentOptions,
  titleOf,
  withDeployment,
  withDeploymentAtHand,
} from '../gitops/deployment.ts'
import { createRun } from '../gitops/run.ts'
import { waitUntilApplied, waitUntilReady } from '../gitops/wait.ts'
import { examples, wholeNumber } from '../options.ts'
import { wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends DeploymentOptions {
  confirmPrune?: boolean
  wait?: boolean
  timeout: number
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withDeployment(command)
      .description(
        `Bring a GitOpsDeployment about now: everything is compared and tried again, whatever its sync windows say. It writes the annotation ${annotations.sync}; for one of type manual it creates a GitOpsDeploymentSyncRun.`,
      )
      .option('--confirm-prune', 'also let the deletions happen that a guard holds back; they are shown')
      .option('--wait', 'until it is Ready; fails when it does not become so')
      .option('--timeout <seconds>', 'how long to wait', wholeNumber, 300)
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
  if (deployment.spec.suspend)
    throw new Failure('conflict', `${titleOf(deployment)} is suspended, so nothing would be done.`, {
      remedy: `Let it go on with \`${berth('resume', deployment)}\`.`,
    })
  const confirmed = options.confirmPrune ? confirmation(at) : {}
  const within = seconds(options.timeout)
  const answered = deployment.spec.type === 'manual' ? await byRun(at, confirmed) : await byAnnotation(at, confirmed)
  if (options.wait) return answered(within)
  shell.print(`${titleOf(deployment)} is being synchronised. See how it does with \`${berth('tree', deployment)}\`.`)
  return exitCodes.ok
}

/** Waits so many milliseconds for what was asked. */
type Answered = (within: number) => Promise<ExitCode>

async function byAnnotation(at: AtHand, more: Record<string, string>): Promise<Answered> {
  const word = new Date(systemClock.now()).toISOString()
  const patch = { metadata: { annotations: { ...more, [annotations.sync]: word } } }
  await at.kube.patch(GitOpsDeployments, refOf(at.deployment), patch)
  return (within) => waitUntilReady(at, { within, answered: ({ status }) => status?.lastHandledSync === word })
}

async function byRun(at: AtHand, more: Record<string, string>): Promise<Answered> {
  const { shell, kube, deployment } = at
  if (Object.keys(more).length > 0) await kube.patch(GitOpsDeployments, refOf(deployment), { metadata: { annotations: more } })
  const run = await createRun(kube, deployment, { what: 'sync' })
  shell.say(`GitOpsDeploymentSyncRun ${run.metadata.namespace}/${run.metadata.name} was created.\n`)
  return (within) => waitUntilApplied(at, run, within)
}

/** For the commit that waits and no other: what a later one deletes is a new question. */
function confirmation({ shell, deployment }: AtHand): Record<string, string> {
  const pending = deployment.status?.pendingPrune
  if (!pending) {
    shell.say(`No deletion of ${titleOf(deployment)} waits for a confirmation.\n`)
    return {}
  }
  shell.say(`${confirmedText(pending)}\n`)
  return { [annotations.confirmPrune]: pending.revision }
}

type Pending = NonNullable<NonNullable<GitOpsDeployment['status']>['pendingPrune']>

function confirmedText({ count, reason, message = '', revision }: Pending): string {
  const head = `Confirmed for commit ${revision.slice(0, 12)}: ${count === 1 ? 'one deletion' : `${count} deletions`} (${reason}).`
  return [head, ...wrap(message, 76).map((line) => `  ${line}`)].join('\n')
}
