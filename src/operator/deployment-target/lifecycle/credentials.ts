import { readTarget } from '../../../adapters/kube/index.ts'
import {
  type CoreSecret,
  CREDENTIALS_NAMESPACE,
  type DeploymentTarget,
  isPrivate,
  KUBECONFIG_KEY,
  kubeconfigIn,
  notOnboarded,
  secretTypes,
  whyNotRead,
} from '../../../api/index.ts'
import { Failure, sayFailure } from '../../../std/index.ts'

/** What can be said of a target's credentials without calling anybody. */
export interface Opinion {
  usable: boolean
  reason: string
  message: string
}

export type Judge = (target: DeploymentTarget, secret: CoreSecret | undefined) => Opinion

const USABLE: Opinion = { usable: true, reason: 'Valid', message: 'the Secret holds a kubeconfig for the API URL' }

/** Judges credentials, each version of a Secret once: parsing a kubeconfig costs more than the rest of a reconcile. */
export function createJudge(isOpen: (namespace: string) => boolean): Judge {
  const known = new WeakMap<CoreSecret, { url: string; opinion: Opinion }>()
  return (target, secret) => {
    if (!secret) return missing(target, isOpen)
    const { apiURL } = target.spec.kubernetesCredentials
    const remembered = known.get(secret)
    if (remembered?.url === apiURL) return remembered.opinion
    const opinion = judge(target, secret)
    known.set(secret, { url: apiURL, opinion })
    return opinion
  }
}

function missing(target: DeploymentTarget, isOpen: (namespace: string) => boolean): Opinion {
  const { namespace = '' } = target.metadata
  const { clusterCredentialsSecret: name } = target.spec.kubernetesCredentials
  if (isPrivate(target))
    return bad(
      'SecretNotFound',
      `Secret "${name}" in namespace ${CREDENTIALS_NAMESPACE} has no credentials of its claim; Berth makes it anew`,
    )
  if (!isOpen(namespace)) return bad('NamespaceNotOnboarded', sayFailure(notOnboarded(namespace)))
  return bad(
    'SecretNotFound',
    `spec.kubernetesCredentials.clusterCredentialsSecret names Secret "${name}", which does not exist (or has another type than ${Object.values(secretTypes).join(', ')}). Create it in this namespace`,
  )
}

function judge({ spec }: DeploymentTarget, secret: CoreSecret): Opinion {
  const { name } = secret.metadata
  const unread = whyNotRead(secret)
  if (unread) return bad(unread.reason ?? '', sayFailure(unread))
  const kubeconfig = kubeconfigIn(secret)
  if (!kubeconfig)
    return bad('MissingKubeConfigField', `Secret "${name}" has no key "${KUBECONFIG_KEY}". Store a kubeconfig under it`)
  try {
    readTarget(kubeconfig, { server: spec.kubernetesCredentials.apiURL })
    return USABLE
  } catch (thrown) {
    const { reason = 'InvalidKubeconfig', message, remedy = '' } = Failure.from(thrown)
    return bad(reason, `Secret "${name}": ${message}. ${remedy}`)
  }
}

const bad = (reason: string, message: string): Opinion => ({ usable: false, reason, message })
