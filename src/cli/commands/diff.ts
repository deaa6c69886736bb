import type { Command } from 'commander'
import { seconds } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type AtHand, type DeploymentOptions, titleOf, withDeployment, withDeploymentAtHand } from '../gitops/deployment.ts'
import { differs, letterOf } from '../gitops/differences.ts'
import { lookAt } from '../gitops/look.ts'
import { faultOfRun } from '../gitops/wait.ts'
import { harmless } from '../harmless.ts'
import { examples, wholeNumber, withOutput } from '../options.ts'
import { type Format, renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends DeploymentOptions {
  output: Format
  revision?: string
  exitCode?: boolean
  timeout: number
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withDeployment(command))
      .description(
        'Show field by field what a synchronisation of a GitOpsDeployment would do, by a dry run with the rights of its tenant. Nothing is applied; values of Secrets are not shown. It creates a GitOpsDeploymentSyncRun with dryRun, waits for its answer and deletes it.',
      )
      .option('--revision <revision>', 'compare with this commit, branch or tag')
      .option('--exit-code', `exit with ${exitCodes.different} when something would be done`)
      .option('--timeout <seconds>', 'how long to wait for the answer', wholeNumber, 120)
      .addHelpText(
        'after',
        examples(
          ['berth diff shop -n team-a', 'with the newest commit'],
          ['berth diff shop -n team-a --revision feature-x', 'with a branch'],
        ),
      )
      .action(finish((name: string, options: Options) => withDeploymentAtHand(shell, name, options, (at) => diff(at, options))))
  },
}

async function diff(at: AtHand, { output, revision: revisionID, exitCode, timeout }: Options): Promise<ExitCode> {
  const { shell, deployment } = at
  const run = await lookAt(at, revisionID, seconds(timeout))
  const fault = faultOfRun(run)
  if (fault !== undefined) {
    shell.say(harmless(`berth: what ${titleOf(deployment)} would do cannot be said: ${fault}\n`))
    return exitCodes.failed
  }
  const { revision = '', dryRun } = run.status ?? {}
  if (!dryRun) return exitCodes.failed
  if (output === 'table') shell.print(letterOf(titleOf(deployment), revision, dryRun, shell.paint))
  else shell.print(renderData(output, { revision, ...dryRun }))
  return exitCode && differs(dryRun) ? exitCodes.different : exitCodes.ok
}
