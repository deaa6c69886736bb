import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type GitOpsDeployment, GitOpsDeployments, type Ref, refOf } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import type { ExitCode } from '../exit-codes.ts'
import { likely } from '../hint.ts'
import { type ClusterOptions, wholeNumber, withKube, withKubeconfig } from '../options.ts'
import type { Shell } from '../shell.ts'

export interface DeploymentOptions extends ClusterOptions {
  namespace: string
}

/** For verbs about one GitOpsDeployment. */
export const withDeployment = (command: Command): Command =>
  withKubeconfig(command)
    .argument('<name>', 'name of the GitOpsDeployment')
    .option('-n, --namespace <name>', 'its namespace', 'default')

export interface WaitOptions extends DeploymentOptions {
  wait?: boolean
  /** Seconds. */
  timeout: number
}

/** For verbs whose work takes its time, after their own options. */
export const withWait = (command: Command): Command =>
  command
    .option('--wait', 'until it is Ready; fails when it does not become so')
    .option('--timeout <seconds>', 'how long to wait', wholeNumber, 300)

/** Throws `conflict` for one that is suspended: what is asked of it would not be done. */
export function refuseSuspended(deployment: GitOpsDeployment): void {
  if (!deployment.spec.suspend) return
  throw new Failure('conflict', `${titleOf(deployment)} is suspended, so nothing would be done.`, {
    remedy: `Let it go on with \`${berth('resume', deployment)}\`.`,
  })
}

/** What a verb works with. */
export interface AtHand {
  shell: Shell
  kube: Kube
  deployment: GitOpsDeployment
}

/** Finds the deployment, does the work with the person's own rights, and ends the connection. */
export const withDeploymentAtHand = (
  shell: Shell,
  name: string,
  options: DeploymentOptions,
  work: (at: AtHand) => Promise<ExitCode>,
): Promise<ExitCode> =>
  withKube(shell, options, async (kube) =>
    work({ shell, kube, deployment: await find(kube, { name, namespace: options.namespace }) }),
  )

async function find(kube: Kube, ref: Ref): Promise<GitOpsDeployment> {
  const found = await kube.get(GitOpsDeployments, ref)
  if (found) return found
  throw new Failure('not-found', `there is no GitOpsDeployment ${ref.name} in namespace ${ref.namespace}.`, {
    remedy: hint(ref, await listed(kube, ref)),
  })
}

/** All that the person may list: of the cluster, else of the namespace. */
async function listed(kube: Kube, { namespace }: Ref): Promise<Ref[]> {
  for (const query of [{}, { namespace }]) {
    try {
      return (await kube.list(GitOpsDeployments, { ...query, metadataOnly: true })).map(refOf)
    } catch (failure) {
      if (!isFailure(failure, 'forbidden')) throw failure
    }
  }
  return []
}

export const hint = (wanted: Ref, known: readonly Ref[]): string => likely(wanted, known, 'kubectl get gitopsdeployments -A')

/** As people say and type it: `GitOpsDeployment team-a/shop`. */
export const titleOf = ({ metadata: { namespace, name } }: GitOpsDeployment): string => `GitOpsDeployment ${namespace}/${name}`

/** Another verb about the same deployment, to be copied. */
export const berth = (verb: string, { metadata: { namespace, name } }: GitOpsDeployment): string =>
  `berth ${verb} ${name} -n ${namespace}`
