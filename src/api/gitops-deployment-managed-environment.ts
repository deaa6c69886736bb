import type {
  GitOpsDeploymentManagedEnvironmentSpec,
  GitOpsDeploymentManagedEnvironmentStatus,
} from './generated/gitops-deployment-managed-environment.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { GitOpsDeploymentManagedEnvironmentSpec, GitOpsDeploymentManagedEnvironmentStatus }

/** A cluster that a GitOpsDeployment can deploy to. */
export type GitOpsDeploymentManagedEnvironment = CustomObject<
  GitOpsDeploymentManagedEnvironmentSpec,
  GitOpsDeploymentManagedEnvironmentStatus
>

export const GitOpsDeploymentManagedEnvironments: Kind<GitOpsDeploymentManagedEnvironment> = {
  group: 'managed-gitops.redhat.com',
  version: 'v1alpha1',
  kind: 'GitOpsDeploymentManagedEnvironment',
  plural: 'gitopsdeploymentmanagedenvironments',
  namespaced: true,
}
