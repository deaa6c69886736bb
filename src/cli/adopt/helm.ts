import type { Kube } from '../../adapters/kube/index.ts'
import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeployments,
  groupOf,
  keyOf,
  nameOf,
  type Ref,
  refOf,
  Secrets,
  typeMetaOf,
} from '../../api/index.ts'
import { createYamlReader, Failure, harmless, harmlessLine, isFailure, isRecord, seconds } from '../../std/index.ts'
import { DECLINED, type ExitCode, exitCodes } from '../exit-codes.ts'
import type { ObjectOptions } from '../find-object.ts'
import { describeDryRun, isChange } from '../gitops/diff.ts'
import { type RepositoryOptions, sourceOf, withSource } from '../gitops/source.ts'
import { dryRun as askForDryRun, faultOfRun } from '../gitops/sync-run.ts'
import { waitUntilReady } from '../gitops/wait.ts'
import { wholeNumber, withKube, withKubeconfig, withNamespace } from '../options.ts'
import { wrap } from '../output.ts'
import { isYes, type Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { type FoundRelease, findRelease, forgetRelease, type HelmRelease } from './helm-release.ts'

interface Options extends ObjectOptions, RepositoryOptions {
  name?: string
  yes?: boolean
  dryRun?: boolean
  /** Seconds. */
  timeout: number
}

export const helm = actionVerb({
  description:
    'Take a release of Helm over, and restart nothing of it: make a GitOpsDeployment of the same chart, in Git or published, with the values that the release has, show what would change, and have it go on in the place of Helm, which then does not know the release any more. The values are kept in a Secret.',
  examples: [
    ['berth adopt helm shop -n team-a --project charts --path shop --dry-run', 'what would change'],
    ['berth adopt helm shop -n team-a --project charts --path shop', 'do it, after a question'],
    ['berth adopt helm cache -n team-a --project bitnami --chart redis', 'of a published chart, in its version'],
  ],
  options: (command) =>
    withSource(withNamespace(withKubeconfig(command), 'its namespace').argument('<release>', 'name of the release'))
      .option('--name <name>', 'of the GitOpsDeployment (default: that of the release)')
      .option('--dry-run', 'only show what would change; what is made for that is deleted again')
      .option('--yes', 'do not ask')
      .option('--timeout <seconds>', 'how long each step may take', wholeNumber, 300),
  run: (shell, release: string, options: Options) => withKube(shell, options, (kube) => adopt(shell, kube, release, options)),
})

async function adopt(shell: Shell, kube: Kube, name: string, options: Options): Promise<ExitCode> {
  const ref = { name, namespace: options.namespace }
  const { release } = await findRelease(kube, ref)
  const made = await makeDeployment(kube, release, options)
  const context = { shell, kube, deployment: made }
  const within = seconds(options.timeout)
  try {
    const run = await askForDryRun(context, undefined, within)
    if (!(await isWanted({ shell, release, run, deployment: made }, options))) {
      await undo(kube, made)
      return exitCodes.ok
    }
    await sameRelease(kube, ref, release)
  } catch (thrown) {
    await undo(kube, made)
    throw thrown
  }
  const deployment = await kube.patch(GitOpsDeployments, refOf(made), { spec: { suspend: false } })
  const { generation = 0 } = deployment.metadata
  const answered = ({ status }: GitOpsDeployment) => (status?.observedGeneration ?? 0) >= generation
  const code = await waitUntilReady({ ...context, deployment }, { within, answered })
  if (code !== exitCodes.ok) {
    shell.say(`${wrap(unfinished(release, deployment)).join('\n')}\n`)
    return code
  }
  const { records } = await sameRelease(kube, ref, release)
  const left = await leftOf(kube, release, deployment)
  await forgetRelease(kube, records)
  shell.print(wrap(finished(release, deployment)).join('\n'))
  if (left.length > 0)
    shell.print(wrap(`Git has no more of it, and it stays and belongs to nobody: ${harmlessLine(left.join(', '))}`).join('\n'))
  return exitCodes.ok
}

/** Helm may have gone on meanwhile, and then the values are old ones. */
async function sameRelease(kube: Kube, ref: Ref, { revision }: HelmRelease): Promise<FoundRelease> {
  const now = await findRelease(kube, ref)
  if (now.release.revision === revision) return now
  throw new Failure('conflict', `Helm has made revision ${now.release.revision} of the release ${ref.name} in the meantime.`, {
    remedy:
      'Helm still knows the release. Have nobody upgrade it, delete the GitOpsDeployment and the Secret with its values, and adopt it again.',
  })
}

/** A status names so many objects. */
const MOST_LISTED = 500

/** What the release has, and the chart in Git does not render. */
async function leftOf(kube: Kube, release: HelmRelease, deployment: GitOpsDeployment): Promise<string[]> {
  const { status } = (await kube.get(GitOpsDeployments, refOf(deployment))) ?? {}
  const listed = status?.resources ?? []
  // No more are listed, so that of a larger release nobody could tell.
  if (listed.length >= MOST_LISTED) return []
  const kept = new Set(
    listed.map(({ group, kind, namespace, name }) => JSON.stringify([group || '', kind, namespace || '', name])),
  )
  const { documents = [] } = await createYamlReader()(release.manifest)
  return documents.flatMap(({ value }) => {
    if (!isRecord(value) || !isRecord(value.metadata)) return []
    const { apiVersion, kind, metadata } = value
    const [name, group] = [String(metadata.name), groupOf(String(apiVersion))]
    const places = [metadata.namespace ?? deployment.metadata.namespace, '']
    const isKept = places.some((namespace) => kept.has(JSON.stringify([group, kind, namespace, name])))
    return isKept ? [] : [`${kind} ${name}`]
  })
}

const unfinished = ({ name: release }: HelmRelease, { metadata: { name, namespace } }: GitOpsDeployment): string =>
  `Helm still knows the release. Mend what is wrong, and then take its records away with \`kubectl delete secrets,configmaps -n ${namespace} -l owner=helm,name=${release}\`; or give it up: \`kubectl delete gitopsdeployment ${name} -n ${namespace}\` leaves all objects where they are.`

const finished = ({ name }: HelmRelease, deployment: GitOpsDeployment): string =>
  `Helm does not know the release ${name} any more. From now on the chart is changed ${deployment.spec.source.chart ? 'by spec.source.chart.version' : 'in Git'}, and its values in Secret ${keyOf(valuesOf(deployment))}.`

/** Beside the deployment. */
const valuesOf = ({ metadata: { name, namespace } }: Pick<GitOpsDeployment, 'metadata'>) => ({
  name: `${name}-values`,
  namespace,
})

/** One that rests yet, so that it can be asked what it would do. What people gave to Helm may be secret, and stands in a Secret there, too. */
async function makeDeployment(kube: Kube, release: HelmRelease, options: Options): Promise<GitOpsDeployment> {
  const { namespace, name = release.name } = options
  // Another version would change what is to be taken over as it stands.
  const { chart, revision = chart === undefined ? undefined : release.chartVersion } = options
  const source = await sourceOf(kube, { ...options, ...(revision !== undefined && { revision }) })
  const values = valuesOf({ metadata: { name, namespace } })
  const deployment: GitOpsDeployment = {
    ...typeMetaOf(GitOpsDeployments),
    metadata: { name, namespace },
    spec: {
      source: { ...source, helm: { releaseName: release.name, valuesFrom: [{ kind: 'Secret', name: values.name }] } },
      type: 'automated',
      suspend: true,
    },
  }
  const made = await kube.create(GitOpsDeployments, deployment).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'already-exists')) throw thrown
    throw new Failure('already-exists', `there is a ${nameOf(deployment)} already.`, {
      remedy: 'Choose another name with --name.',
    })
  })
  try {
    await kube.create(Secrets, {
      ...typeMetaOf(Secrets),
      metadata: { name: values.name, namespace },
      data: { 'values.yaml': Buffer.from(JSON.stringify(release.values, undefined, 2)).toString('base64') },
    })
  } catch (thrown) {
    await kube.delete(GitOpsDeployments, refOf(made))
    throw thrown
  }
  return made
}

/** It has applied nothing so far. */
async function undo(kube: Kube, deployment: GitOpsDeployment): Promise<void> {
  await kube.delete(GitOpsDeployments, refOf(deployment))
  await kube.delete(Secrets, valuesOf(deployment))
}

interface Question {
  shell: Shell
  release: HelmRelease
  run: GitOpsDeploymentSyncRun
  deployment: GitOpsDeployment
}

/** Shows what would change, and asks. Where nothing would change there is nothing to ask. */
async function isWanted({ shell, release, run, deployment }: Question, { yes, dryRun: isDry }: Options): Promise<boolean> {
  const title = `Helm release ${release.name} (${release.chart}, revision ${release.revision}) as ${nameOf(deployment)}`
  const { revision = '', dryRun } = run.status ?? {}
  const fault = faultOfRun(run)
  if (fault !== undefined || !dryRun)
    throw new Failure('invalid', harmless(`what would become of ${title} cannot be said: ${fault}`), {
      remedy: 'Nothing was changed.',
    })
  shell.print(describeDryRun(title, revision, dryRun, shell.paint))
  if (dryRun.refuse > 0)
    throw new Failure('invalid', `${dryRun.refuse} of its objects would be refused, as said above.`, {
      remedy: 'Nothing was changed. Correct that first.',
    })
  if (isDry) return false
  if (yes || !isChange(dryRun)) return true
  const answer = await shell.ask('\nTake it over with these changes? [y/N] ')
  if (isYes(answer)) return true
  if (answer === undefined)
    throw new Failure('invalid', 'nothing was changed: there is no terminal to ask at', { remedy: 'Give --yes.' })
  throw new Failure('cancelled', 'nothing was changed', { reason: DECLINED, remedy: 'Answer y, or give --yes.' })
}
