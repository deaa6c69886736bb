import type { ProgressReport } from '../../adapters/control-plane/index.ts'
import { Failure } from '../../std/index.ts'
import type { Shell } from '../shell.ts'
import { checkCluster, serverIn } from './answer.ts'

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
