import { connect } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import type { Report } from '../report.ts'
import type { Shell } from '../shell.ts'
import { untilAnswer } from './answer.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * The cluster that KUBECONFIG names, if the tour may use it unasked: it answers, and it is on this machine. A cluster
 * elsewhere may be somebody's production, so it has to be named with --kubeconfig. One line says what was decided.
 */
export async function clusterAtHand({ env, signal }: Shell, report: Report): Promise<string | undefined> {
  const file = env.KUBECONFIG
  if (!file) return undefined
  try {
    const kube = connect({ kubeconfig: file })
    try {
      if (!LOOPBACK.test(new URL(kube.server).hostname)) {
        report.line(`KUBECONFIG names ${kube.server}, which is not on this machine: it is used only with --kubeconfig.`)
        return undefined
      }
      await untilAnswer(kube, signal)
      return file
    } finally {
      await kube.close()
    }
  } catch (thrown) {
    report.line(`KUBECONFIG is not used: ${Failure.from(thrown).message}.`)
    return undefined
  }
}
