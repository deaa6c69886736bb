import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type GitOpsDeployment, GitOpsDeployments, nameOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { findObject, type ObjectOptions, withObject } from '../find-object.ts'
import { wholeNumber, withKube } from '../options.ts'
import type { Shell } from '../shell.ts'

export const withDeployment = (command: Command): Command => withObject(command, GitOpsDeployments)

export interface WaitOptions extends ObjectOptions {
  wait?: boolean
  /** Seconds. */
  timeout: number
}

/** For verbs whose work takes its time, after their own options. */
export const withWait = (command: Command): Command =>
  command
    .option('--wait', 'until it is Ready; fails when it does not become so')
    .option('--timeout <seconds>', 'how long to wait', wholeNumber, 300)

export interface DeploymentContext {
  shell: Shell
  kube: Kube
  deployment: GitOpsDeployment
  /** A program reads what is said: what a person has to decide is not offered to it. */
  forProgram?: boolean
}

/** Does the work of a verb about one GitOpsDeployment, with the person's own rights. */
export const onDeployment =
  <Options extends ObjectOptions, Result>(work: (context: DeploymentContext, options: Options) => Promise<Result>) =>
  (shell: Shell, name: string, options: Options): Promise<Result> =>
    withKube(shell, options, async (kube) => {
      const ref = { name, namespace: options.namespace }
      const deployment = await findObject(kube, GitOpsDeployments, ref, '`berth get deployments -A`')
      return work({ shell, kube, deployment }, options)
    })

/** Throws `conflict` for one that is suspended: what is asked of it would not be done. */
export function refuseSuspended(deployment: GitOpsDeployment): void {
  if (!deployment.spec.suspend) return
  throw new Failure('conflict', `${nameOf(deployment)} is suspended, so nothing would be done.`, {
    remedy: `Let it go on with \`${commandFor('resume', deployment)}\`.`,
  })
}

/** Another verb about the same deployment, to be copied. */
export const commandFor = (verb: string, { metadata: { namespace, name } }: GitOpsDeployment): string =>
  `berth ${verb} ${name} -n ${namespace}`
