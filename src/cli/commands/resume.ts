import type { Command } from 'commander'
import { GitOpsDeployments, refOf } from '../../api/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type AtHand, type DeploymentOptions, titleOf, withDeployment, withDeploymentAtHand } from '../gitops/deployment.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends DeploymentOptions {
  automated?: boolean
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withDeployment(command)
      .description('Let a suspended GitOpsDeployment go on; with --automated also one that was rolled back or is manual.')
      .option('--automated', 'apply each new commit again: sets spec.type, which `berth rollback` has set to manual')
      .addHelpText(
        'after',
        examples(
          ['berth resume shop -n team-a', 'after `berth suspend`'],
          ['berth resume shop -n team-a --automated', 'after `berth rollback`'],
        ),
      )
      .action(
        finish((name: string, options: Options) =>
          withDeploymentAtHand(shell, name, options, (at) => resume(at, options.automated === true)),
        ),
      )
  },
}

async function resume({ shell, kube, deployment }: AtHand, automated: boolean): Promise<ExitCode> {
  const { suspend = false, type } = deployment.spec
  const spec = { ...(suspend && { suspend: false }), ...(automated && type !== 'automated' && { type: 'automated' }) }
  if (Object.keys(spec).length > 0) await kube.patch(GitOpsDeployments, refOf(deployment), { spec })
  shell.print(`${titleOf(deployment)} ${sayState(Object.keys(spec).length > 0, automated ? 'automated' : type)}`)
  return exitCodes.ok
}

function sayState(changed: boolean, type: string): string {
  const what = type === 'automated' ? 'applies each new commit' : 'is of type manual: `berth sync` applies the newest commit'
  return changed ? `goes on; it ${what}.` : `was not suspended; it ${what}.`
}
