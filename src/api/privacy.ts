import type { CoreSecret } from './core.ts'
import { claimRefOf } from './deployment-target.ts'
import { type DeploymentTarget, type DeploymentTargetClaim, type DeploymentTargetClass, Workspaces } from './kinds.ts'
import { groupOf, type KubeObject, type Ref } from './kube-object.ts'
import { annotations, CREDENTIALS_NAMESPACE, labels, SANDBOX_PROVISIONER } from './labels.ts'

/** A claim, a SpaceRequest or a target is private: its credentials lie with Berth and not beside the claim (decision 273). */
export const isPrivate = (object: KubeObject): boolean => privateToOf(object) !== undefined

/** The one person who gets into a private space besides Berth; empty while there is none, `undefined` where it is not private. */
export const privateToOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[annotations.privateTo]

/**
 * Decides whether a claim of the class is private: as its `parameters.credentials` say, else those that are made for workspaces. Only the namespaces
 * of the own cluster can be.
 */
export function isPrivateBy({ spec }: DeploymentTargetClass, madeForWorkspace: boolean): boolean {
  if (spec.provisioner !== SANDBOX_PROVISIONER) return false
  const credentials = spec.parameters?.credentials
  return credentials === 'Private' || (madeForWorkspace && credentials !== 'Shared')
}

/** The claim is a workspace's, or a warm pool's. */
export const isForWorkspace = (claim: DeploymentTargetClaim): boolean =>
  claim.metadata.labels?.[labels.warmPool] !== undefined || workspacesOwning(claim).length > 0

/** The UIDs of the workspaces that own a claim: one, or none. */
export const workspacesOwning = ({ metadata }: DeploymentTargetClaim): string[] =>
  (metadata.ownerReferences ?? [])
    .filter(({ apiVersion, kind }) => kind === Workspaces.kind && groupOf(apiVersion) === Workspaces.group)
    .map(({ uid }) => uid)

/** The Secret with the credentials of a target. */
export const credentialsRefOf = (target: DeploymentTarget): Ref => ({
  name: target.spec.kubernetesCredentials.clusterCredentialsSecret,
  namespace: isPrivate(target) ? CREDENTIALS_NAMESPACE : target.metadata.namespace,
})

/** The Secret is for this target: anybody who writes targets must not get at the credentials of another claim's space. */
export function opens(secret: CoreSecret, target: DeploymentTarget): boolean {
  const claimUid = claimRefOf(target)?.uid
  return !isPrivate(target) || claimUid === undefined || secret.metadata.labels?.[labels.claimUid] === claimUid
}
