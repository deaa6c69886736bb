import { connect } from '../../adapters/kube/index.ts'
import { aborted, Failure, seconds } from '../../std/index.ts'

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
    const failure = Failure.from(thrown)
    throw new Failure(failure.code, failure.message, { cause: failure, remedy: remedyFor(failure) })
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

/** What can be done about a cluster that does not answer as it was asked. */
export function remedyFor({ code, remedy }: Failure): string {
  if (remedy !== undefined) return remedy
  if (code === 'unauthorized') return 'Log in again: the credentials of the kubeconfig are not accepted.'
  if (code === 'forbidden') return 'Log in as somebody who may, or ask an administrator for the right.'
  return 'Start the cluster (`berth up` starts a local one), or name another one with --kubeconfig.'
}
