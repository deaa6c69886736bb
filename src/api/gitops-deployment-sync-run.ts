import type { GitOpsDeploymentSyncRunSpec, GitOpsDeploymentSyncRunStatus } from './generated/gitops-deployment-sync-run.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { GitOpsDeploymentSyncRunSpec, GitOpsDeploymentSyncRunStatus }

/** One synchronisation of a manual GitOpsDeployment. */
export type GitOpsDeploymentSyncRun = CustomObject<GitOpsDeploymentSyncRunSpec, GitOpsDeploymentSyncRunStatus>

export const GitOpsDeploymentSyncRuns: Kind<GitOpsDeploymentSyncRun> = {
  group: 'managed-gitops.redhat.com',
  version: 'v1alpha1',
  kind: 'GitOpsDeploymentSyncRun',
  plural: 'gitopsdeploymentsyncruns',
  namespaced: true,
}
