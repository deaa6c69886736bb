import { isAnswer, type Kube } from '../../adapters/kube/index.ts'
import type { GitOpsDeploymentManagedEnvironment } from '../../api/index.ts'
import {
  askTarget,
  credentialsForEnvironment,
  noKubernetes,
  type ProbeOptions,
  type ProbeTrouble,
  RENEW_TOKEN,
  troubleOf,
} from '../../engines/targets/index.ts'
import { Failure, isFailure, type Secret } from '../../std/index.ts'
import { broken } from './contract.ts'

/** Neither a namespace nor a version is longer. */
const MOST_BYTES = 2 ** 20
const VERSION = /^v\d{1,4}(\.\d{1,4}){1,2}/

/** Asks the cluster as a delivery would: the first namespace of the list, or any. The answer is its version, when it says one. */
export async function tryConnection(
  environment: GitOpsDeploymentManagedEnvironment,
  kubeconfig: Secret<string>,
  probe: ProbeOptions,
): Promise<string | undefined> {
  const { apiURL, namespaces: [first] = [] } = environment.spec
  const [path, kind] = first === undefined ? ['?limit=1', 'NamespaceList'] : [`/${first}`, 'Namespace']
  try {
    const [answer, version] = await askTarget(
      credentialsForEnvironment(environment, kubeconfig),
      { ...probe, maxBytes: MOST_BYTES },
      (kube, signal) =>
        Promise.all([kube.read<{ kind?: unknown }>(`/api/v1/namespaces${path}`, { signal }), versionOf(kube, signal)]),
    )
    if (answer.kind !== kind) throw refusal(noKubernetes(apiURL))
    return version
  } catch (thrown) {
    if (probe.signal.aborted || isOurs(thrown)) throw thrown
    throw explained(Failure.from(thrown), apiURL, { namespace: first, patience: probe.patience })
  }
}

/** A verdict of ours, not the server's: what a server calls invalid has its answer as the cause. */
const isOurs = (thrown: unknown): boolean => isFailure(thrown, 'invalid') && !isAnswer(thrown)

/** Good to know; a cluster that hides it is none the worse. */
async function versionOf(target: Kube, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { gitVersion } = await target.read<{ gitVersion?: unknown }>('/version', { signal })
    // The numbers only: what follows could be anything, the caller's token too.
    return typeof gitVersion === 'string' ? VERSION.exec(gitVersion)?.[0] : undefined
  } catch (thrown) {
    // The other request tells of the same trouble, and better.
    Failure.from(thrown)
    return undefined
  }
}

function explained(
  failure: Failure,
  apiURL: string,
  { namespace, patience }: { namespace: string | undefined; patience: number },
): Failure {
  const what = namespace === undefined ? 'list namespaces' : `get namespace "${namespace}"`
  if (failure.code === 'forbidden')
    return invalid(
      `${apiURL} takes the token, but does not let it ${what}`,
      namespace === undefined ? 'Grant that, or name the namespaces it may use in spec.namespaces' : 'Grant that',
    )
  if (failure.code === 'not-found' && namespace !== undefined)
    return invalid(
      `${apiURL} has no namespace "${namespace}", which spec.namespaces names first`,
      'Create it there, or correct the list',
    )
  return refusal(troubleOf(failure, apiURL, patience))
}

const REMEDIES: Record<ProbeTrouble['reason'], string> = {
  TokenRefused: RENEW_TOKEN,
  NoAnswer: 'Check spec.apiURL, the network in between, and certificate-authority-data in the kubeconfig',
  NoKubernetes: 'Check spec.apiURL, and the cluster behind it',
}

const refusal = ({ reason, message }: ProbeTrouble) => invalid(message, REMEDIES[reason])

const invalid = (message: string, remedy: string) => broken('UnableToValidateClusterCredentials', message, remedy)
