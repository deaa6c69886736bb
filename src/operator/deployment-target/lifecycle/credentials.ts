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
import { createKubeconfigCheck } from '../../../engines/targets/index.ts'
import { sayFailure } from '../../../std/index.ts'

/** A judgement of a target's credentials that needs no request. */
export interface CredentialsAssessment {
  usable: boolean
  reason: string
  message: string
}

const USABLE: CredentialsAssessment = { usable: true, reason: 'Valid', message: 'the Secret holds a kubeconfig for the API URL' }

export type AssessCredentials = (target: DeploymentTarget, secret: CoreSecret | undefined) => CredentialsAssessment

export function createCredentialsAssessment(isOpen: (namespace: string) => boolean): AssessCredentials {
  const check = createKubeconfigCheck()
  return (target, secret) => {
    if (!secret) return missing(target, isOpen)
    const { name } = secret.metadata
    const unread = whyNotRead(secret)
    if (unread) return bad(unread.reason ?? '', sayFailure(unread))
    const kubeconfig = kubeconfigIn(secret)
    if (!kubeconfig)
      return bad('MissingKubeConfigField', `Secret "${name}" has no key "${KUBECONFIG_KEY}". Store a kubeconfig under it`)
    const failure = check(secret, kubeconfig, target.spec.kubernetesCredentials.apiURL)
    if (!failure) return USABLE
    const { reason = 'InvalidKubeconfig', message, remedy = '' } = failure
    return bad(reason, `Secret "${name}": ${message}. ${remedy}`)
  }
}

function missing(target: DeploymentTarget, isOpen: (namespace: string) => boolean): CredentialsAssessment {
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

const bad = (reason: string, message: string): CredentialsAssessment => ({ usable: false, reason, message })
