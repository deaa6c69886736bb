import type { DeploymentTargetClaimSpec, DeploymentTargetClaimStatus } from './generated/deployment-target-claim.ts'
import type { CustomObject, Kind } from './kube-object.ts'
import { annotations } from './labels.ts'

export type { DeploymentTargetClaimSpec, DeploymentTargetClaimStatus }

/** A request for a place to deploy to. */
export type DeploymentTargetClaim = CustomObject<DeploymentTargetClaimSpec, DeploymentTargetClaimStatus>

export const DeploymentTargetClaims: Kind<DeploymentTargetClaim> = {
  group: 'appstudio.redhat.com',
  version: 'v1alpha1',
  kind: 'DeploymentTargetClaim',
  plural: 'deploymenttargetclaims',
  namespaced: true,
}

/** The provisioner that is asked to make a target, under either spelling of the key. */
export const askedProvisionerOf = ({ metadata }: DeploymentTargetClaim): string | undefined =>
  metadata.annotations?.[annotations.provisioner] ?? metadata.annotations?.[annotations.provisionerMisspelt]

/** The binding was completed once; whether the target is still there is another question. */
export const isBindComplete = ({ metadata }: DeploymentTargetClaim): boolean =>
  metadata.annotations?.[annotations.bindComplete] !== undefined

/** The target that a claim has, or wants. `""` is how a Go client writes "not set". */
export const targetNameOf = ({ spec, status }: DeploymentTargetClaim): string | undefined =>
  (status?.target?.name ?? spec.targetName) || undefined
