import { isAnswer } from '../../../adapters/kube/index.ts'
import { type CoreSecret, type DeploymentTarget, kubeconfigIn } from '../../../api/index.ts'
import {
  askTarget,
  credentialsForTarget,
  noKubernetes,
  type ProbeOptions,
  type ProbeTrouble,
  RENEW_TOKEN,
  troubleOf,
} from '../../../engines/targets/index.ts'
import { Failure, redactUrls } from '../../../std/index.ts'
import type { Answer } from './finding.ts'

/** A version and a refusal are short. */
const MOST_BYTES = 2 ** 16

/** Asks the API behind a target for its version, with the target's own token. */
export async function askVersion(target: DeploymentTarget, secret: CoreSecret, probe: ProbeOptions): Promise<Answer> {
  const { apiURL } = target.spec.kubernetesCredentials
  const shown = redactUrls(apiURL)
  const kubeconfig = kubeconfigIn(secret)
  // A token sent over plain HTTP is everybody's.
  if (!kubeconfig || !apiURL.toLowerCase().startsWith('https://'))
    return no(UNSUPPORTED, `apiURL "${shown}" is no https:// URL, so no token is sent there. Use the https:// URL of the API`)
  try {
    const { gitVersion } = await askTarget(
      credentialsForTarget(target, kubeconfig),
      { ...probe, maxBytes: MOST_BYTES },
      (kube, signal) => kube.read<{ gitVersion?: unknown }>('/version', { signal }),
    )
    return typeof gitVersion === 'string' ? answered(shown) : unusable(noKubernetes(shown))
  } catch (thrown) {
    const failure = Failure.from(thrown)
    // It knows whom it talks to, and keeps its version to itself.
    if (failure.code === 'forbidden') return answered(shown)
    const { code, reason = UNSUPPORTED, message, remedy = '' } = failure
    if (code === 'invalid' && !isAnswer(failure)) return no(reason, `${message}. ${remedy}`.trim())
    return unusable(troubleOf(failure, shown, probe.patience))
  }
}

const UNSUPPORTED = 'UnsupportedAPIURL'

const REMEDIES: Record<ProbeTrouble['reason'], string> = {
  TokenRefused: RENEW_TOKEN,
  NoAnswer: 'Check apiURL, the network in between, and certificate-authority-data in the kubeconfig',
  NoKubernetes: 'Check apiURL and what is behind it',
}

const answered = (apiURL: string): Answer => ({ status: 'True', reason: 'Answers', message: `${apiURL} answers` })

const no = (reason: string, message: string): Answer => ({ status: 'False', reason, message })

const unusable = ({ reason, message }: ProbeTrouble): Answer =>
  no(reason, `${message}. ${REMEDIES[reason]}. It is asked again by itself, and at once when the target or its Secret changes`)
