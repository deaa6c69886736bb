import type { Command } from 'commander'
import { GitOpsDeployments, refOf } from '../../api/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import {
  type AtHand,
  berth,
  type DeploymentOptions,
  titleOf,
  withDeployment,
  withDeploymentAtHand,
} from '../gitops/deployment.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withDeployment(command)
      .description(
        'Let a GitOpsDeployment rest: from then on nothing of it is read or written, also not what somebody changes in the cluster. What runs goes on.',
      )
      .addHelpText('after', examples(['berth suspend shop -n team-a', 'until `berth resume`']))
      .action(finish((name: string, options: DeploymentOptions) => withDeploymentAtHand(shell, name, options, suspend)))
  },
}

async function suspend({ shell, kube, deployment }: AtHand): Promise<ExitCode> {
  const was = deployment.spec.suspend === true
  if (!was) await kube.patch(GitOpsDeployments, refOf(deployment), { spec: { suspend: true } })
  shell.print(
    `${titleOf(deployment)} ${was ? 'was suspended already' : 'is suspended'}. Let it go on with \`${berth('resume', deployment)}\`.`,
  )
  return exitCodes.ok
}
