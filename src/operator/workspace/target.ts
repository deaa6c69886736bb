import { readTarget } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  claims,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  KUBECONFIG_KEY,
  kubeconfigIn,
  type Ref,
  type Workspace,
} from '../../api/index.ts'
import { Failure, type Secret } from '../../std/index.ts'
import { claimNameOf } from './claim.ts'
import type { Obstacle } from './obstacle.ts'

/** Where a workspace runs, and how to get there. */
export interface Target {
  claimName: string
  name: string
  namespace: string
  apiURL: string
  skipTLSVerify: boolean
  kubeconfig: Secret<string>
  /** Changes when the credentials do. */
  version: string
}

/** What the way to a target leads over. */
export interface Signposts {
  claim(ref: Ref): DeploymentTargetClaim | undefined
  target(ref: Ref): DeploymentTarget | undefined
  secret(ref: Ref): CoreSecret | undefined
}

/** Claim, target, Secret: the whole way, or the first thing on it that is missing. */
export function findTarget(workspace: Workspace, sharedNamespace: string, signposts: Signposts): Target | Obstacle {
  const { namespace } = workspace.metadata
  const claimName = claimNameOf(workspace)
  const claim = signposts.claim({ name: claimName, namespace })
  const named = `${DeploymentTargetClaims.kind} ${claimName}`
  if (!claim)
    return missing(
      'ClaimNotFound',
      `there is no ${named} in this namespace`,
      'Create it, or correct spec.target.claimName.',
      named,
    )
  const unbound = whyUnbound(claim, named)
  if (unbound) return unbound
  const name = claim.status?.target?.name ?? claim.spec.targetName ?? ''
  const target = signposts.target({ name, namespace })
  if (!target || !claims(target, claim)) {
    const message = target
      ? `DeploymentTarget ${name} is not held by ${named}`
      : `${named} is bound to DeploymentTarget ${name}, which is gone`
    return missing(
      'TargetNotFound',
      message,
      'Delete the claim, so that a new one finds another target.',
      `DeploymentTarget ${name}`,
    )
  }
  return withCredentials(target, { claimName, sharedNamespace }, signposts)
}

function whyUnbound(claim: DeploymentTargetClaim, named: string): Obstacle | undefined {
  if (claim.status?.phase === 'Bound') return undefined
  const why = conditionOf(claim.status?.conditions, 'Ready')?.message ?? 'nobody has looked at it yet'
  if (claim.status?.phase === 'Lost') {
    return missing(
      'ClaimLost',
      `${named} has lost its target: ${why}`,
      'Delete the workspace and the claim, and make them again.',
      named,
    )
  }
  return missing(
    'ClaimPending',
    `${named} is not Bound yet: ${why}`,
    `Look at it: kubectl describe deploymenttargetclaim ${claim.metadata.name}`,
    named,
  )
}

function withCredentials(
  target: DeploymentTarget,
  { claimName, sharedNamespace }: { claimName: string; sharedNamespace: string },
  signposts: Signposts,
): Target | Obstacle {
  const {
    defaultNamespace,
    apiURL,
    clusterCredentialsSecret,
    allowInsecureSkipTLSVerify = false,
  } = target.spec.kubernetesCredentials
  const secret = signposts.secret({ name: clusterCredentialsSecret, namespace: target.metadata.namespace })
  const named = `Secret ${clusterCredentialsSecret}`
  const kubeconfig = secret && kubeconfigIn(secret)
  if (!kubeconfig) {
    const message = secret
      ? `${named} has no key "${KUBECONFIG_KEY}"`
      : `there is no ${named} with the credentials of DeploymentTarget ${target.metadata.name}`
    return missing('CredentialsMissing', message, `Store a kubeconfig for ${apiURL} in it.`, named)
  }
  const unusable = whyUnusable(kubeconfig, apiURL, named)
  if (unusable) return unusable
  const namespace = sharedNamespace || defaultNamespace
  // Without one, watches and paths would mean the whole cluster.
  if (!namespace) {
    const message = `DeploymentTarget ${target.metadata.name} names no namespace`
    return missing(
      'NamespaceMissing',
      message,
      'Set its spec.kubernetesCredentials.defaultNamespace.',
      `DeploymentTarget ${target.metadata.name}`,
    )
  }
  return {
    claimName,
    name: target.metadata.name,
    namespace,
    apiURL,
    skipTLSVerify: allowInsecureSkipTLSVerify,
    kubeconfig,
    version: `${secret.metadata.uid}/${secret.metadata.resourceVersion}`,
  }
}

function whyUnusable(kubeconfig: Secret<string>, server: string, named: string): Obstacle | undefined {
  try {
    readTarget(kubeconfig, { server })
    return undefined
  } catch (thrown) {
    const { reason = 'CredentialsInvalid', message, remedy = '' } = Failure.from(thrown)
    return missing(reason, `${named}: ${message}`, remedy, named)
  }
}

const missing = (reason: string, message: string, remedy: string, waitingFor: string): Obstacle => ({
  step: 'TargetReady',
  reason,
  message,
  remedy,
  waitingFor,
})
