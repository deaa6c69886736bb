/**
 * The vocabulary of the cluster: kinds, their types (generated from crds/), labels, annotations, conditions.
 * Nothing here talks to a server. Read kube-object.ts first, then kinds.ts (Berth's own kinds) and core.ts (those of Kubernetes).
 */

export { type Condition, conditionOf, isTrue, NOT_REPORTED, notTrue, type Statement, withConditions } from './conditions.ts'
export {
  type ClusterRole,
  type ClusterRoleBinding,
  ClusterRoleBindings,
  ClusterRoles,
  type ConfigMap,
  ConfigMaps,
  type ContainerState,
  type ContainerStatus,
  type CoreCondition,
  type CoreEvent,
  CoreEvents,
  type CoreSecret,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type Deployment,
  Deployments,
  type FieldSchema,
  type Job,
  Jobs,
  type Lease,
  Leases,
  type LimitRange,
  LimitRanges,
  lastSaidAt,
  type Namespace,
  Namespaces,
  NetworkPolicies,
  type NetworkPolicy,
  Nodes,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  type PolicyRule,
  type Quantities,
  type ResourceQuota,
  ResourceQuotas,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
  Secrets,
  type Service,
  type ServiceAccount,
  ServiceAccounts,
  Services,
  type StatefulSet,
  type Subject,
  type TokenRequest,
} from './core.ts'
export {
  askedProvisionerOf,
  claimRefOf,
  claims,
  isBindComplete,
  isDeletionConfirmed,
  isKept,
  isLeaving,
  provisionedByOf,
  type ReclaimPolicy,
  reclaimPolicyOf,
  sayKept,
  targetNameOf,
  tierNameOf,
} from './deployment-target.ts'
export type { AgentSpec, AgentStatus } from './generated/agent.ts'
export type { DeploymentTargetStatus } from './generated/deployment-target.ts'
export type { DeploymentTargetClaimStatus } from './generated/deployment-target-claim.ts'
export type { EnvironmentSpec } from './generated/environment.ts'
export type { GitProjectSpec, GitProjectStatus } from './generated/git-project.ts'
export type { GitOpsDeploymentSpec } from './generated/gitops-deployment.ts'
export type { GitOpsDeploymentSetSpec, GitOpsDeploymentSetStatus } from './generated/gitops-deployment-set.ts'
export type { GitOpsDeploymentSyncRunStatus } from './generated/gitops-deployment-sync-run.ts'
export type { PreviewSpec, PreviewStatus } from './generated/preview.ts'
export type { SpaceRequestStatus } from './generated/space-request.ts'
export type { SpaceTierSpec } from './generated/space-tier.ts'
export type { WorkspaceSpec, WorkspaceStatus } from './generated/workspace.ts'
export type { WorkspaceClassSpec, WorkspaceClassStatus } from './generated/workspace-class.ts'
export { covers, type Grantee, isRefusedCommit, mayAccountRead, withoutGit } from './git-project.ts'
export { chartsAt, inEffect, isInRegistry, sourceChart, sourcePath, sourceUrl } from './gitops-deployment.ts'
export {
  byClaim,
  byClaimName,
  byClaimUid,
  byCredentialsSecret,
  byHolder,
  byMadeTarget,
  byTarget,
  byUid,
  type Index,
  indexBy,
  keysBeside,
  refsBeside,
} from './indexes.ts'
export {
  type Agent,
  Agents,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
  type Environment,
  Environments,
  type GitOpsDeployment,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type GitOpsDeploymentSet,
  GitOpsDeploymentSets,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  OWN_KINDS,
  type Preview,
  Previews,
  type SpaceRequest,
  SpaceRequests,
  type SpaceTier,
  SpaceTiers,
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  Workspaces,
} from './kinds.ts'
export {
  type AnyObject,
  apiVersionOf,
  byAge,
  type CustomObject,
  groupOf,
  hasFinalizer,
  isDeleting,
  isOwnedBy,
  type Kind,
  type KubeObject,
  keyOf,
  nameOf,
  type ObjectMeta,
  type OwnerReference,
  ownedBy,
  type Ref,
  refFromKey,
  refOf,
  typeMetaOf,
  withFinalizer,
  withoutFinalizer,
} from './kube-object.ts'
export {
  AGENT_PROVISIONER,
  annotations,
  BERTH_AUTHORITY,
  BERTH_NAMESPACE,
  CREDENTIALS_NAMESPACE,
  FOREVER,
  finalizers,
  gitAudienceOf,
  KAS_PRESENCE,
  KUBECONFIG_KEY,
  labelledVersion,
  labels,
  MANAGED_BY_BERTH,
  nameOfSpaceAccount,
  PART_OF_BERTH,
  SANDBOX_PROVISIONER,
  SANDBOX_TIER,
  SPACE_PROVISIONERS,
  SSH_AUTHORITY,
  SSH_GATEWAY,
  secretTypes,
  tunnelAudienceOf,
  YES,
} from './labels.ts'
export { notOnboarded, tenantRoles } from './onboarding.ts'
export { type BranchEnvironment, type BranchMarks, branchTitle, endMarks, keepMarks, markPatch } from './preview.ts'
export { credentialsRefOf, isForWorkspace, isPrivate, isPrivateBy, opens, privateToOf, workspacesOwning } from './privacy.ts'
export { type PromotionLink, promotionChainOf, promotionRowOf } from './promotion-chain.ts'
export { dataOf, kubeconfigIn, textIn, whyNotRead } from './secret-content.ts'
export { accountOfUser, groupsOfUser, type ServiceAccountName, userOfAccount } from './service-account.ts'
export { ANYBODY, isMadeFor, requesterNameOf, requesterOf } from './space-request.ts'
export {
  type CertificateWish,
  certificateCommand,
  certificateWishIn,
  SSH_CERTIFICATES_USER,
  SSH_GROUPS,
} from './ssh-certificates.ts'
export { syncRunOf } from './sync-run.ts'
export {
  clonerImageOf,
  DEFAULT_CLASS,
  WORKSPACE_IMAGE,
  workspaceKeptUntil,
  workspaceObjectName,
  workspaceStateOf,
  workspaceStepsOf,
  workspaceWishOf,
} from './workspace.ts'
