import type { DeploymentTargetClaim } from './deployment-target-claim.ts'
import type { DeploymentTargetSpec, DeploymentTargetStatus } from './generated/deployment-target.ts'
import type { CustomObject, Kind } from './kube-object.ts'
import { annotations } from './labels.ts'

export type { DeploymentTargetSpec, DeploymentTargetStatus }

/** A place to deploy to. */
export type DeploymentTarget = CustomObject<DeploymentTargetSpec, DeploymentTargetStatus>

export const DeploymentTargets: Kind<DeploymentTarget> = {
  group: 'appstudio.redhat.com',
  version: 'v1alpha1',
  kind: 'DeploymentTarget',
  plural: 'deploymenttargets',
  namespaced: true,
}

/** The claim that a target names, whichever way it is written; a blank name is none. */
export function claimRefOf(target: DeploymentTarget): { name: string; uid?: string } | undefined {
  const { claimRef } = target.spec
  const written = typeof claimRef === 'string' ? { name: claimRef } : claimRef
  return written?.name ? written : undefined
}

/** The provisioner that made the target; `undefined` for a target that a user made. */
export const provisionedByOf = ({ metadata }: DeploymentTarget): string | undefined =>
  metadata.annotations?.[annotations.provisionedBy] ?? metadata.annotations?.[annotations.provisionedByMisspelt]

/** Reserved for, or had by, exactly this claim: by UID when the reference has one, by name when it has none. */
export function claims(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const ref = claimRefOf(target)
  return ref?.uid === undefined ? ref?.name === claim.metadata.name : ref.uid === claim.metadata.uid
}
