import type { Cache } from '../../../adapters/kube/index.ts'
import {
  byClaimName,
  byClaimUid,
  byHolder,
  claimRefOf,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  type DeploymentTargetClass,
  type Environment,
  indexBy,
  isDeleting,
  isForWorkspace,
  isPrivate,
  keyOf,
  keysBeside,
  refOf,
  type SpaceRequest,
  type Workspace,
} from '../../../api/index.ts'
import { compareTargets, mismatch } from './match.ts'

/** The caches that binding reads, and the questions it asks of them. */
export interface BindingCaches {
  claims: Cache<DeploymentTargetClaim>
  targets: Cache<DeploymentTarget>
  classes: Cache<DeploymentTargetClass>
  requests: Cache<SpaceRequest>
  environments: Cache<Environment>
  workspaces: Cache<Workspace>
}

const byHolderUid = indexBy((target: DeploymentTarget) => [claimRefOf(target)?.uid ?? ''])
/** Of targets that are on offer to anybody. */
const byPoolOffered = indexBy((target: DeploymentTarget) => (claimRefOf(target) || isDeleting(target) ? [] : [poolOf(target)]))

export const byTargetName = indexBy((claim: DeploymentTargetClaim) => keysBeside(claim, claim.spec.targetName))
/** Of claims that are not Bound: by what they wait for. */
export const byWanted = indexBy((claim: DeploymentTargetClaim) =>
  claim.status?.phase === 'Bound' ? [] : [poolOf(claim), claim.spec.deploymentTargetClassName],
)

/** Of workspaces: by the claim that they share. */
const byShared = indexBy((workspace: Workspace) => keysBeside(workspace, workspace.spec.target?.claimName))

/** Somebody is to use the target: an Environment or a Workspace names the claim, or it was made for a Workspace or a warm pool. */
export function hasConsumer({ environments, workspaces }: BindingCaches, claim: DeploymentTargetClaim): boolean {
  const key = keyOf(refOf(claim))
  return isForWorkspace(claim) || environments.by(byClaimName, key).length > 0 || workspaces.by(byShared, key).length > 0
}

/** `namespace/class`. */
export const poolOf = ({ metadata, spec }: DeploymentTarget | DeploymentTargetClaim): string =>
  `${metadata.namespace}/${spec.deploymentTargetClassName}`

/**
 * Targets that carry this claim's UID. More than one only for a moment, or when somebody made a second one. One in another namespace is
 * forged, and so is one for a private claim that is not private itself: those only Berth makes.
 */
export function ownTargets({ targets }: BindingCaches, claim: DeploymentTargetClaim): DeploymentTarget[] {
  const { uid, namespace } = claim.metadata
  if (!uid) return []
  return targets
    .by(byHolderUid, uid)
    .filter((target) => target.metadata.namespace === namespace && (!isPrivate(claim) || isPrivate(target)))
}

/** Targets that a user reserved for a claim of this name. */
export const reservedTargets = ({ targets }: BindingCaches, { metadata }: DeploymentTargetClaim): DeploymentTarget[] =>
  targets.by(byHolder, `${metadata.namespace}/${metadata.name}`).filter((target) => claimRefOf(target)?.uid === undefined)

/** Those of its class that nobody has. */
export const offeredTargets = ({ targets }: BindingCaches, claim: DeploymentTargetClaim): DeploymentTarget[] =>
  targets.by(byPoolOffered, poolOf(claim))

/** The best target that nobody has: `taken` holds those for which a write is under way in this process. */
export function bestFree(
  caches: BindingCaches,
  claim: DeploymentTargetClaim,
  taken: ReadonlySet<string>,
): DeploymentTarget | undefined {
  let best: DeploymentTarget | undefined
  for (const target of offeredTargets(caches, claim)) {
    if (taken.has(target.metadata.uid ?? '') || mismatch(claim, target)) continue
    if (!best || compareTargets(target, best) < 0) best = target
  }
  return best
}

/** What else is known of a claim that nothing fits. */
export interface News {
  message: string
  /** Why nothing comes of it. */
  reason?: string
  /** Something is being made for it. */
  isUnderWay: boolean
  /** It does not go on by itself. */
  isStuck: boolean
}

/** The SpaceRequest that was made for the claim, and how far it is. */
export function provisioningOf({ requests }: BindingCaches, { metadata }: DeploymentTargetClaim): News | undefined {
  const request = requests.by(byClaimUid, metadata.uid ?? 'none').find((one) => one.metadata.namespace === metadata.namespace)
  if (!request) return undefined
  const ready = conditionOf(request.status?.conditions, 'Ready')
  const error = conditionOf(request.status?.conditions, 'ErrorOccurred')
  const isStuck = ready?.reason === 'UnableToProvision'
  const state = ready ? `${ready.reason}${ready.message ? `: ${ready.message}` : ''}` : 'not looked at yet'
  return {
    isUnderWay: true,
    isStuck,
    ...(isStuck && { reason: error?.status === 'True' ? error.reason : ready.reason }),
    message: `SpaceRequest ${request.metadata.name} is ${ready?.status === 'True' ? 'ready' : 'not ready'} (${state})`,
  }
}
