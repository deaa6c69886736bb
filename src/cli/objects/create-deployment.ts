import type { Kube } from '../../adapters/kube/index.ts'
import { Environments, type GitOpsDeployment, type GitOpsDeploymentSpec, GitOpsDeployments, typeMetaOf } from '../../api/index.ts'
import { Failure, seconds } from '../../std/index.ts'
import { type CreateOptions, createObject, withCreation } from '../create-object.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type WaitOptions, withWait } from '../gitops/deployment.ts'
import { type RepositoryOptions, sourceOf, withSource } from '../gitops/source.ts'
import { waitUntilReady } from '../gitops/wait.ts'
import { withKube } from '../options.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'

interface Options extends CreateOptions, WaitOptions, RepositoryOptions {
  environment?: string
  targetNamespace?: string
  serviceAccount?: string
  interval?: string
  manual?: boolean
  prune: boolean
  suspend?: boolean
}

export const deployment = actionVerb({
  description: 'Keep a directory of a Git repository, or a published chart, in effect, here or in an environment.',
  examples: [
    ['berth create deployment shop --project shop --path deploy -n team-a --wait', 'a project'],
    ['berth create deployment shop --project shop --environment prod --revision v1', 'elsewhere'],
    ['berth create deployment shop --url https://git.example.com/shop.git --dry-run', 'as YAML'],
    ['berth create deployment redis --project charts --chart redis --revision 18.x', 'a published chart'],
  ],
  options: (command) =>
    withWait(
      withSource(withCreation(command, GitOpsDeployments))
        .option('--environment <environment>', 'Environment to deploy to (default: the namespace of the deployment)')
        .option('--target-namespace <name>', 'namespace there, for objects that name none')
        .option('--service-account <name>', 'as which is applied in the own namespace (default: default)')
        .option('--interval <duration>', 'how often the cluster is compared with the repository, such as 10m')
        .option('--manual', 'apply a commit only when asked to by `berth sync`')
        .option('--no-prune', 'keep objects that left the repository')
        .option('--suspend', 'let it rest until `berth resume`'),
    ),
  run: (shell, name: string, options: Options) => withKube(shell, options, (kube) => create(shell, kube, name, options)),
})

async function create(shell: Shell, kube: Kube, name: string, options: Options): Promise<ExitCode> {
  const { namespace, environment, wait, timeout, manual, suspend } = options
  if (wait && (manual || suspend))
    throw new Failure('invalid', `--wait would wait in vain for a deployment that is ${manual ? 'manual' : 'suspended'}.`, {
      remedy: `Leave it out, and apply with \`berth ${manual ? 'sync' : 'resume'} ${name} -n ${namespace}\`.`,
    })
  const object: GitOpsDeployment = {
    ...typeMetaOf(GitOpsDeployments),
    metadata: { name, namespace },
    spec: await specOf(kube, options),
  }
  const needs = [[Environments, environment] as const]
  const made = await createObject({ shell, kube, kind: GitOpsDeployments, object, needs }, options)
  if (!wait || !made) return exitCodes.ok
  const answered = ({ status }: GitOpsDeployment) => status?.observedGeneration !== undefined
  return waitUntilReady({ shell, kube, deployment: made }, { within: seconds(timeout), answered })
}

async function specOf(kube: Kube, options: Options): Promise<GitOpsDeploymentSpec> {
  const { environment, targetNamespace, serviceAccount, interval } = options
  const destination = { ...(environment && { environment }), ...(targetNamespace && { namespace: targetNamespace }) }
  return {
    source: await sourceOf(kube, options),
    ...((environment || targetNamespace) && { destination }),
    type: options.manual ? 'manual' : 'automated',
    ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
    ...(interval !== undefined && { interval }),
    ...(!options.prune && { prune: false }),
    ...(options.suspend && { suspend: true }),
  }
}
