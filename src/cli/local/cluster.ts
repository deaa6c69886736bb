import { resolve } from 'node:path'
import type { ProgressReport } from '../../adapters/control-plane/index.ts'
import { connect } from '../../adapters/kube/index.ts'
import { aborted, Failure, seconds } from '../../std/index.ts'
import { withRemedy } from '../options.ts'
import type { Shell } from '../shell.ts'
import { which } from '../which.ts'
import { runProgram } from './program.ts'

/** The client itself has more patience than a person. A login that its credentials ask for takes its own time. */
const WITHIN = seconds(5)

/** An installation reads this, too. Unlike /version it is not for everybody, so that bad credentials show. */
const READ = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1'

/** Fails, with what can be done about it, where the cluster does not answer, or not to whom the kubeconfig names. */
export async function checkCluster(kubeconfig: string, signal: AbortSignal): Promise<void> {
  const kube = connect({ kubeconfig, timeout: WITHIN })
  try {
    // A connection that is being made hears no signal.
    await Promise.race([kube.read(READ, { about: kubeconfig, signal }), aborted(signal).then(() => signal.throwIfAborted())])
  } catch (thrown) {
    throw withRemedy(Failure.from(thrown))
  } finally {
    await kube.close()
  }
}

/** The address of the API that the file names; nothing is asked. Fails where the file cannot be read, or names no cluster. */
export async function serverIn(kubeconfig: string): Promise<string> {
  const kube = connect({ kubeconfig })
  await kube.close()
  return kube.server
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * The cluster that KUBECONFIG names, if the tour may use it unasked: it answers, and it is on this machine. A cluster
 * elsewhere may be somebody's production, so it has to be named with --kubeconfig. One line says what was decided.
 */
export async function clusterAtHand({ env, signal }: Shell, report: ProgressReport): Promise<string | undefined> {
  const file = env.KUBECONFIG
  if (!file) return undefined
  try {
    const server = await serverIn(file)
    if (!LOOPBACK.test(new URL(server).hostname)) {
      report.line(`KUBECONFIG names ${server}, which is not on this machine: it is used only with --kubeconfig.`)
      return undefined
    }
    await checkCluster(file, signal)
    return file
  } catch (thrown) {
    const { code, message } = Failure.from(thrown)
    if (code === 'cancelled') throw thrown
    report.line(`KUBECONFIG is not used: ${message}.`)
    return undefined
  }
}

/** The whole path of the kubectl in the PATH. It fails where there is none, or one that does not run. */
export async function findKubectl({ env, cwd, signal }: Pick<Shell, 'env' | 'cwd' | 'signal'>): Promise<string> {
  const kubectl = resolve(cwd, which('kubectl', env.PATH, cwd))
  await runProgram(kubectl, ['version', '--client'], { env, signal })
  return kubectl
}
