import type { GitOpsDeploymentSpec, GitOpsDeploymentStatus } from './generated/gitops-deployment.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { GitOpsDeploymentSpec, GitOpsDeploymentStatus }

/** A directory in a Git repository that is kept in effect in an environment. */
export type GitOpsDeployment = CustomObject<GitOpsDeploymentSpec, GitOpsDeploymentStatus>

export const GitOpsDeployments: Kind<GitOpsDeployment> = {
  group: 'managed-gitops.redhat.com',
  version: 'v1alpha1',
  kind: 'GitOpsDeployment',
  plural: 'gitopsdeployments',
  namespaced: true,
}
