import { isAnswer, kubeFromSecret, type Reach, whyNoAnswer } from '../../../adapters/kube/index.ts'
import { type CoreSecret, type DeploymentTarget, kubeconfigIn } from '../../../api/index.ts'
import { Failure, redactUrls, within } from '../../../std/index.ts'
import { type Answer, answered, unanswered } from './finding.ts'

/** A version and a refusal are short. */
const MOST_BYTES = 2 ** 16

/** Asks the API behind a target for its version, with the target's own token. */
export async function askTarget(
  { metadata, spec }: DeploymentTarget,
  secret: CoreSecret,
  { reach, patience, signal }: { reach: Reach | undefined; patience: number; signal: AbortSignal },
): Promise<Answer> {
  const { apiURL, allowInsecureSkipTLSVerify = false } = spec.kubernetesCredentials
  const shown = redactUrls(apiURL)
  const kubeconfig = kubeconfigIn(secret)
  // A token sent over plain HTTP is everybody's.
  if (!kubeconfig || !apiURL.toLowerCase().startsWith('https://')) return unanswered.plain(shown)
  try {
    const target = kubeFromSecret(kubeconfig, {
      server: apiURL,
      insecureSkipTLSVerify: allowInsecureSkipTLSVerify,
      timeout: patience,
      maxBytes: MOST_BYTES,
      reach,
      tenant: metadata.namespace,
      subject: { field: 'spec.kubernetesCredentials.apiURL' },
    })
    try {
      const version = (inTime: AbortSignal) => target.read<{ gitVersion?: unknown }>('/version', { signal: inTime })
      const { gitVersion } = await within(patience, signal, version)
      return typeof gitVersion === 'string' ? answered(shown) : unanswered.foreign(shown)
    } finally {
      await target.close()
    }
  } catch (thrown) {
    return explained(Failure.from(thrown), shown, patience)
  }
}

/** In our words only: apiURL may lead to a machine that the user can't read from otherwise, and a server may echo the token. */
function explained(failure: Failure, apiURL: string, patience: number): Answer {
  // It knows whom it talks to, and keeps its version to itself.
  if (failure.code === 'forbidden') return answered(apiURL)
  if (failure.code === 'unauthorized') return unanswered.token(apiURL)
  if (failure.code === 'invalid' && !isAnswer(failure)) return unanswered.refused(failure)
  const silence = whyNoAnswer(failure, patience)
  return silence === undefined ? unanswered.foreign(apiURL) : unanswered.silent(apiURL, silence)
}
