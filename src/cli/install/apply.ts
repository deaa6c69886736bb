import type { Kube } from '../../adapters/kube/index.ts'
import { BERTH_NAMESPACE, refOf } from '../../api/index.ts'
import { Failure, isFailure, seconds } from '../../std/index.ts'
import { findKubectl } from '../local/cluster.ts'
import { runProgram } from '../local/program.ts'
import { untilEstablished } from '../local/readiness.ts'
import { objectsIn } from '../manifests.ts'
import { type ClusterOptions, kubeconfigOf, withKube } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { InstallValues } from './generated/values.ts'
import { renderDefaults } from './render.ts'

interface RenderedInstallation {
  text: string
  values: InstallValues
}

/** The first pull of an image may take minutes. */
const RUNS_WITHIN = seconds(300)

/** Applies it, then what needs its kinds, and waits for the programs. Says each step as it begins. */
export async function applyInstallation(
  shell: Shell,
  options: ClusterOptions,
  { text, values }: RenderedInstallation,
): Promise<void> {
  const program = await findKubectl(shell)
  const kubeconfig = kubeconfigOf(shell, options)
  const cluster = [
    ...(kubeconfig ? ['--kubeconfig', kubeconfig] : []),
    ...(options.context ? ['--context', options.context] : []),
  ]
  const kubectl = (words: readonly string[], input = '') => runProgram(program, [...cluster, ...words], { ...shell, input })
  const namespace = values.namespace ?? BERTH_NAMESPACE
  shell.say('Applying kinds, policies, roles and programs.\n')
  await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], text)
  await withKube(shell, options, async (kube) => {
    await untilEstablished(shell, kube)
    for (const name of await applyDefaults(shell, kube)) shell.say(`Made ${name}.\n`)
  })
  for (const { kind, metadata } of objectsIn(text, 'the installation')) {
    if (kind !== 'Deployment') continue
    shell.say(`Waiting until ${metadata.name} runs.\n`)
    const words = [`deployment/${metadata.name}`, '-n', namespace]
    try {
      await kubectl(['rollout', 'status', ...words, `--timeout=${RUNS_WITHIN / 1000}s`])
    } catch (cause) {
      shell.signal.throwIfAborted()
      throw new Failure('timeout', `${metadata.name} was applied, and does not run after ${RUNS_WITHIN / 1000} s`, {
        cause,
        remedy: `Look at \`kubectl get events -n ${namespace}\` and \`kubectl logs ${words.join(' ')}\`.`,
      })
    }
  }
  const elsewhere = namespace === BERTH_NAMESPACE ? '' : ` --namespace ${namespace}`
  shell.print(`Berth runs in namespace ${namespace}. Look at it with \`berth doctor${elsewhere}\`.`)
}

/** Only those that are not there: what somebody has made their own stays as it is. Names what was made. */
async function applyDefaults(shell: Shell, kube: Kube): Promise<string[]> {
  const made: string[] = []
  for (const object of objectsIn(await renderDefaults(shell), 'deploy/defaults')) {
    const kind = await kube.resolve(object.apiVersion, object.kind)
    if (!kind || (await kube.get(kind, refOf(object)))) continue
    try {
      await kube.create(kind, object)
      made.push(`${object.kind} ${object.metadata.name}`)
    } catch (thrown) {
      if (!isFailure(thrown, 'already-exists')) throw thrown
    }
  }
  return made
}
