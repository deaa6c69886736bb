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
  type Workspace,
  whyNotRead,
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
import { claimNameOf, isOwnClaim, noTarget, ownersOf } from './claim.ts'
import { isObstacle, type Obstacle } from './obstacle.ts'

/** Where a workspace runs, and how to get there. */
export interface Target extends TargetCredentials {
  claimName: string
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

export const targetLookup = (caches: Caches): TargetLookup => ({
  targets: caches.of(DeploymentTargets),
  credentialsOf: credentialsFinder(caches),
  check: createKubeconfigCheck(),
})

/** Of claims: by the workspaces that own them. */
const byOwner = indexBy(ownersOf)

/** The claim that the workspace owns, or the one that has the name of it. */
export function ownClaim(workspace: Workspace, lookup: ClaimLookup): DeploymentTargetClaim | undefined {
  const { uid = '', namespace } = workspace.metadata
  const owned = lookup.claims.by(byOwner, uid).find((claim) => claim.metadata.namespace === namespace)
  return owned ?? lookup.claims.get({ name: objectNameOf(workspace), namespace })
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
    return noTarget(
      'ClaimNotFound',
      `there is no ${named} in this namespace`,
      'Create it, or make the workspace again with another in spec.target.claimName.',
      named,
    )
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
  const { name: claimName, namespace } = claim.metadata
  const named = `${DeploymentTargetClaims.kind} ${claimName}`
  const unbound = whyUnbound(claim, named)
  if (unbound) return unbound
  const name = claim.status?.target?.name ?? claim.spec.targetName ?? ''
  const target = lookup.targets.get({ name, namespace })
  if (!target || !claims(target, claim)) {
    const message = target
      ? `DeploymentTarget ${name} is not held by ${named}`
      : `${named} is bound to DeploymentTarget ${name}, which is gone`
    return noTarget(
      'TargetNotFound',
      message,
      'Delete the claim, so that a new one finds another target.',
      `DeploymentTarget ${name}`,
    )
  }
  if (isPrivate(claim) !== isPrivate(target)) return notMadeFor(named, name)
  return withCredentials(target, { claimName, sharedNamespace }, lookup)
}

const notShared = ({ metadata }: DeploymentTargetClaim): Obstacle =>
  noTarget(
    'ClaimPrivate',
    `DeploymentTargetClaim ${metadata.name} is private: only the workspace that it was made for runs in its target`,
    'Share a claim whose class says parameters.credentials: Shared, or leave spec.target out, so that the workspace gets its own.',
    `DeploymentTargetClaim ${metadata.name}`,
  )

/** Where the one is private, the other was made by somebody for a claim that is not his. */
const notMadeFor = (named: string, target: string): Obstacle =>
  noTarget(
    'TargetNotFound',
    `DeploymentTarget ${target} was not made for ${named}: one is private, and the other is not`,
    'Delete that DeploymentTarget, or the claim, so that a new one finds another target.',
    `DeploymentTarget ${target}`,
  )

function whyUnbound(claim: DeploymentTargetClaim, named: string): Obstacle | undefined {
  if (claim.status?.phase === 'Bound') return undefined
  const why = conditionOf(claim.status?.conditions, 'Ready')?.message ?? 'nobody has looked at it yet'
  if (claim.status?.phase === 'Lost') {
    return noTarget(
      'ClaimLost',
      `${named} has lost its target: ${why}`,
      'Delete the workspace and the claim, and make them again.',
      named,
    )
  }
  return noTarget(
    'ClaimPending',
    `${named} is not Bound yet: ${why}`,
    `Look at it: kubectl describe deploymenttargetclaim ${claim.metadata.name}`,
    named,
  )
}

function withCredentials(
  target: DeploymentTarget,
  { claimName, sharedNamespace }: { claimName: string; sharedNamespace: string | undefined },
  { credentialsOf, check }: TargetLookup,
): Target | Obstacle {
  const { name } = target.metadata
  const { defaultNamespace, apiURL, clusterCredentialsSecret } = target.spec.kubernetesCredentials
  const secret = credentialsOf(target)
  const named = `Secret ${clusterCredentialsSecret}`
  const unread = secret && whyNotRead(secret)
  if (unread) return noTarget(unread.reason ?? '', unread.message, unread.remedy ?? '', named)
  const kubeconfig = secret && kubeconfigIn(secret)
  if (!kubeconfig) {
    const message = secret
      ? `${named} has no key "${KUBECONFIG_KEY}"`
      : `there is no ${named} with the credentials of DeploymentTarget ${name}`
    return noTarget('CredentialsMissing', message, `Store a kubeconfig for ${apiURL} in it.`, named)
  }
  const failure = check(secret, kubeconfig, apiURL)
  if (failure) {
    const { reason = 'CredentialsInvalid', message, remedy = '' } = failure
    return noTarget(reason, `${named}: ${message}`, remedy, named)
  }
  const namespace = sharedNamespace || defaultNamespace
  // Without one, watches and paths would mean the whole cluster.
  if (!namespace) {
    return noTarget(
      'NamespaceMissing',
      `DeploymentTarget ${name} names no namespace`,
      'Set its spec.kubernetesCredentials.defaultNamespace.',
      `DeploymentTarget ${name}`,
    )
  }
  const version = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`
  return { ...credentialsForTarget(target, kubeconfig), claimName, name, namespace, version }
}
