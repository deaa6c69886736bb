import { GitOpsDeployments, nameOf, refOf } from '../../api/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { actionVerb } from '../verb.ts'
import { commandFor, type DeploymentContext, onDeployment, withDeployment } from './deployment.ts'

export const suspend = actionVerb({
  description:
    'Let a GitOpsDeployment rest: from then on nothing of it is read or written, also not what somebody changes in the cluster. What runs goes on.',
  examples: [['berth suspend shop -n team-a', 'until `berth resume`']],
  options: withDeployment,
  run: onDeployment(async ({ shell, kube, deployment }) => {
    const was = deployment.spec.suspend === true
    if (!was) await kube.patch(GitOpsDeployments, refOf(deployment), { spec: { suspend: true } })
    shell.print(
      `${nameOf(deployment)} ${was ? 'was suspended already' : 'is suspended'}. Let it go on with \`${commandFor('resume', deployment)}\`.`,
    )
  }),
})

interface ResumeOptions extends ObjectOptions {
  automated?: boolean
}

export const resume = actionVerb({
  description: 'Let a suspended GitOpsDeployment go on; with --automated also one that was rolled back or is manual.',
  examples: [
    ['berth resume shop -n team-a', 'after `berth suspend`'],
    ['berth resume shop -n team-a --automated', 'after `berth rollback`'],
  ],
  options: (command) =>
    withDeployment(command).option(
      '--automated',
      'apply each new commit again: sets spec.type, which `berth rollback` has set to manual',
    ),
  run: onDeployment(resumeDeployment),
})

async function resumeDeployment({ shell, kube, deployment }: DeploymentContext, { automated }: ResumeOptions): Promise<void> {
  const { suspend: isSuspended, type } = deployment.spec
  const spec = { ...(isSuspended && { suspend: false }), ...(automated && type !== 'automated' && { type: 'automated' }) }
  const isChanged = Object.keys(spec).length > 0
  if (isChanged) await kube.patch(GitOpsDeployments, refOf(deployment), { spec })
  const does =
    automated || type === 'automated' ? 'applies each new commit' : 'is of type manual: `berth sync` applies the newest commit'
  shell.print(`${nameOf(deployment)} ${isChanged ? 'goes on' : 'was not suspended'}; it ${does}.`)
}
