import type { Cache, Caches } from '../../../adapters/kube/index.ts'
import {
  annotations,
  type CoreSecret,
  claims,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  indexBy,
  isPrivate,
  KUBECONFIG_KEY,
  kubeconfigIn,
  targetNameOf,
  type Workspace,
  whyNotRead,
  workspacesOwning,
} from '../../../api/index.ts'
import {
  type CheckKubeconfig,
  createKubeconfigCheck,
  credentialsFinder,
  credentialsForTarget,
  type TargetCredentials,
} from '../../../engines/targets/index.ts'
import type { WarmVolume } from '../desired/index.ts'
import { objectNameOf } from '../desired/names.ts'
import { claimNameOf, isOwnClaim } from './claim.ts'
import { isObstacle, type Obstacle, targetObstacle } from './obstacle.ts'

/** Where a workspace runs, and how to get there. */
export interface Target extends TargetCredentials {
  claimName: string
  claimUid: string
  name: string
  namespace: string
  /** Changes when the credentials do. */
  version: string
  /** The volume that was there before the workspace was. */
  volume?: WarmVolume | undefined
}

/** Finds the target of a claim, and its credentials. */
export interface TargetLookup {
  targets: Cache<DeploymentTarget>
  /** The Secret with the credentials of a target. */
  credentialsOf(target: DeploymentTarget): CoreSecret | undefined
  check: CheckKubeconfig
}

/** Finds the claim of a workspace, too. */
export interface ClaimLookup extends TargetLookup {
  claims: Cache<DeploymentTargetClaim>
}

export const createTargetLookup = (caches: Caches): TargetLookup => ({
  targets: caches.of(DeploymentTargets),
  credentialsOf: credentialsFinder(caches),
  check: createKubeconfigCheck(),
})

/** Of claims: by the workspaces that own them. */
const byOwner = indexBy(workspacesOwning)

/** The claim that the workspace owns, or the one that has the name of it. */
export function ownClaim(workspace: Workspace, lookup: ClaimLookup): DeploymentTargetClaim | undefined {
  const { uid = '', namespace } = workspace.metadata
  const [owned] = lookup.claims
    .by(byOwner, uid)
    .filter((claim) => claim.metadata.namespace === namespace)
    .sort(byTrust)
  return owned ?? lookup.claims.get({ name: objectNameOf(workspace), namespace })
}

/**
 * One is enough, but claims may be older than the policy that lets only Berth say whose they are. A private one was made by Berth; and whoever
 * would lead a workspace elsewhere comes later than it.
 */
function byTrust(a: DeploymentTargetClaim, b: DeploymentTargetClaim): number {
  if (isPrivate(a) !== isPrivate(b)) return isPrivate(a) ? -1 : 1
  return (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '')
}

/** The claim that the workspace shares, or its own. */
export function claimOf(workspace: Workspace, lookup: ClaimLookup): DeploymentTargetClaim | undefined {
  const { claimName } = workspace.spec.target ?? {}
  return claimName ? lookup.claims.get({ name: claimName, namespace: workspace.metadata.namespace }) : ownClaim(workspace, lookup)
}

/** Claim, target, Secret: the whole way, or the first thing on it that is missing. */
export function findTarget(workspace: Workspace, sharedNamespace: string | undefined, lookup: ClaimLookup): Target | Obstacle {
  const claim = claimOf(workspace, lookup)
  if (!claim) {
    const named = `${DeploymentTargetClaims.kind} ${claimNameOf(workspace)}`
    return targetObstacle('ClaimNotFound', {
      message: `there is no ${named} in this namespace`,
      remedy: 'Create it, or make the workspace again with another in spec.target.claimName.',
      waitingFor: named,
    })
  }
  const isOwn = isOwnClaim(workspace, claim)
  if (isPrivate(claim) && !isOwn) return notShared(claim)
  const target = targetOf(claim, sharedNamespace, lookup)
  const name = isOwn ? claim.metadata.annotations?.[annotations.volume] : undefined
  return isObstacle(target) || !name ? target : { ...target, volume: { name, claimUid: claim.metadata.uid ?? '' } }
}

/** Where a claim leads. */
export function targetOf(
  claim: DeploymentTargetClaim,
  sharedNamespace: string | undefined,
  lookup: TargetLookup,
): Target | Obstacle {
  const { name: claimName, namespace, uid: claimUid = '' } = claim.metadata
  const named = `${DeploymentTargetClaims.kind} ${claimName}`
  const unbound = whyUnbound(claim, named)
  if (unbound) return unbound
  const name = targetNameOf(claim) ?? ''
  const target = lookup.targets.get({ name, namespace })
  if (!target || !claims(target, claim)) {
    const message = target
      ? `DeploymentTarget ${name} is not held by ${named}`
      : `${named} is bound to DeploymentTarget ${name}, which is gone`
    return targetObstacle('TargetNotFound', {
      message,
      remedy: 'Delete the claim, so that a new one finds another target.',
      waitingFor: `DeploymentTarget ${name}`,
    })
  }
  if (isPrivate(claim) !== isPrivate(target)) return notMadeFor(named, name)
  return withCredentials(target, { claimName, claimUid, sharedNamespace }, lookup)
}

const notShared = ({ metadata }: DeploymentTargetClaim): Obstacle =>
  targetObstacle('ClaimPrivate', {
    message: `DeploymentTargetClaim ${metadata.name} is private: only the workspace that it was made for runs in its target`,
    remedy:
      'Share a claim whose class says parameters.credentials: Shared, or leave spec.target out, so that the workspace gets its own.',
    waitingFor: `DeploymentTargetClaim ${metadata.name}`,
  })

/** Where the one is private, the other was made by somebody for a claim that is not his. */
const notMadeFor = (named: string, target: string): Obstacle =>
  targetObstacle('TargetNotFound', {
    message: `DeploymentTarget ${target} was not made for ${named}: one is private, and the other is not`,
    remedy: 'Delete that DeploymentTarget, or the claim, so that a new one finds another target.',
    waitingFor: `DeploymentTarget ${target}`,
  })

function whyUnbound(claim: DeploymentTargetClaim, named: string): Obstacle | undefined {
  if (claim.status?.phase === 'Bound') return undefined
  const why = conditionOf(claim.status?.conditions, 'Ready')?.message ?? 'nobody has looked at it yet'
  if (claim.status?.phase === 'Lost') {
    return targetObstacle('ClaimLost', {
      message: `${named} has lost its target: ${why}`,
      remedy: 'Delete the workspace and the claim, and make them again.',
      waitingFor: named,
    })
  }
  return targetObstacle('ClaimPending', {
    message: `${named} is not Bound yet: ${why}`,
    remedy: `Look at it with \`kubectl describe deploymenttargetclaim ${claim.metadata.name} -n ${claim.metadata.namespace}\`.`,
    waitingFor: named,
  })
}

function withCredentials(
  target: DeploymentTarget,
  { sharedNamespace, ...claim }: Pick<Target, 'claimName' | 'claimUid'> & { sharedNamespace: string | undefined },
  { credentialsOf, check }: TargetLookup,
): Target | Obstacle {
  const { name } = target.metadata
  const { defaultNamespace, apiURL, clusterCredentialsSecret } = target.spec.kubernetesCredentials
  const secret = credentialsOf(target)
  const named = `Secret ${clusterCredentialsSecret}`
  const unread = secret && whyNotRead(secret)
  if (unread)
    return targetObstacle(unread.reason ?? '', { message: unread.message, remedy: unread.remedy ?? '', waitingFor: named })
  const kubeconfig = secret && kubeconfigIn(secret)
  if (!kubeconfig) {
    const message = secret
      ? `${named} has no key "${KUBECONFIG_KEY}"`
      : `there is no ${named} with the credentials of DeploymentTarget ${name}`
    return targetObstacle('CredentialsMissing', { message, remedy: `Store a kubeconfig for ${apiURL} in it.`, waitingFor: named })
  }
  const failure = check(secret, kubeconfig, apiURL)
  if (failure) {
    const { reason = 'CredentialsInvalid', message, remedy = '' } = failure
    return targetObstacle(reason, { message: `${named}: ${message}`, remedy, waitingFor: named })
  }
  const namespace = sharedNamespace || defaultNamespace
  // Without one, watches and paths would mean the whole cluster.
  if (!namespace) {
    return targetObstacle('NamespaceMissing', {
      message: `DeploymentTarget ${name} names no namespace`,
      remedy: 'Set its spec.kubernetesCredentials.defaultNamespace.',
      waitingFor: `DeploymentTarget ${name}`,
    })
  }
  const version = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`
  return { ...credentialsForTarget(target, kubeconfig), ...claim, name, namespace, version }
}
