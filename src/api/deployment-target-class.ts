import type { DeploymentTargetClassSpec, DeploymentTargetClassStatus } from './generated/deployment-target-class.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { DeploymentTargetClassSpec, DeploymentTargetClassStatus }

/** A kind of target that can be claimed. Cluster-scoped, immutable. */
export type DeploymentTargetClass = CustomObject<DeploymentTargetClassSpec, DeploymentTargetClassStatus>

export const DeploymentTargetClasses: Kind<DeploymentTargetClass> = {
  group: 'appstudio.redhat.com',
  version: 'v1alpha1',
  kind: 'DeploymentTargetClass',
  plural: 'deploymenttargetclasses',
  namespaced: false,
}
