import { isAnswer, type Kube, kubeFromSecret, type Reach, whyNoAnswer } from '../../adapters/kube/index.ts'
import type { GitOpsDeploymentManagedEnvironment } from '../../api/index.ts'
import { Failure, isFailure, type Secret, within } from '../../std/index.ts'
import { broken } from './contract.ts'

/** Neither a namespace nor a version is longer. */
const MOST_BYTES = 2 ** 20
const VERSION = /^v\d{1,4}(\.\d{1,4}){1,2}/
const VERDICT = 'UnableToValidateClusterCredentials'

/** Asks the cluster as a delivery would: the first namespace of the list, or any. The answer is its version, when it says one. */
export async function tryConnection(
  { metadata, spec }: GitOpsDeploymentManagedEnvironment,
  kubeconfig: Secret<string>,
  { reach, patience, signal }: { reach: Reach | undefined; patience: number; signal: AbortSignal },
): Promise<string | undefined> {
  const { apiURL, namespaces = [], allowInsecureSkipTLSVerify = false } = spec
  const target = kubeFromSecret(kubeconfig, {
    server: apiURL,
    insecureSkipTLSVerify: allowInsecureSkipTLSVerify,
    timeout: patience,
    maxBytes: MOST_BYTES,
    reach,
    tenant: metadata.namespace,
    subject: { field: 'spec.apiURL' },
  })
  const [first] = namespaces
  const [path, kind] = first === undefined ? ['?limit=1', 'NamespaceList'] : [`/${first}`, 'Namespace']
  const ask = (inTime: AbortSignal) =>
    Promise.all([target.read<{ kind?: unknown }>(`/api/v1/namespaces${path}`, { signal: inTime }), versionOf(target, inTime)])
  try {
    const [answer, version] = await within(patience, signal, ask)
    if (answer.kind !== kind) throw noKubernetes(apiURL)
    return version
  } catch (thrown) {
    if (signal.aborted || isOurs(thrown)) throw thrown
    throw explained(Failure.from(thrown), apiURL, { namespace: first, patience })
  } finally {
    await target.close()
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

/**
 * In our words only. The text of an answer is never shown: apiURL may lead to a machine inside the network that the
 * user can't read from otherwise, and a server may echo the token.
 */
function explained(
  failure: Failure,
  apiURL: string,
  { namespace, patience }: { namespace: string | undefined; patience: number },
): Failure {
  const what = namespace === undefined ? 'list namespaces' : `get namespace "${namespace}"`
  switch (failure.code) {
    case 'unauthorized':
      return broken(VERDICT, `${apiURL} refuses the token`, 'Renew users[].user.token in the kubeconfig of the Secret')
    case 'forbidden':
      return broken(
        VERDICT,
        `${apiURL} takes the token, but does not let it ${what}`,
        namespace === undefined ? 'Grant that, or name the namespaces it may use in spec.namespaces' : 'Grant that',
      )
    case 'not-found':
      return namespace === undefined ? noKubernetes(apiURL) : noNamespace(apiURL, namespace)
    default: {
      const silence = whyNoAnswer(failure, patience)
      return silence === undefined ? noKubernetes(apiURL) : unreachable(apiURL, silence)
    }
  }
}

const noNamespace = (apiURL: string, namespace: string) =>
  broken(
    VERDICT,
    `${apiURL} has no namespace "${namespace}", which spec.namespaces names first`,
    'Create it there, or correct the list',
  )

const noKubernetes = (apiURL: string) =>
  broken(VERDICT, `${apiURL} answers, but not like a Kubernetes API`, 'Check spec.apiURL, and the cluster behind it')

const unreachable = (apiURL: string, silence: string) =>
  broken(
    VERDICT,
    `${apiURL} does not answer ${silence}`,
    'Check spec.apiURL, the network in between, and certificate-authority-data in the kubeconfig',
  )
