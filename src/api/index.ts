/**
 * The vocabulary of the cluster: kinds, their types (generated from crds/), labels, annotations, conditions.
 * Nothing here talks to a server. Read kube-object.ts first, then the file of the kind you look for.
 */

export { type Agent, type AgentSpec, type AgentStatus, Agents } from './agent.ts'
export { type Condition, conditionOf, isTrue, type Statement, withConditions } from './conditions.ts'
export {
  type BoundObject,
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
  type Job,
  Jobs,
  type Lease,
  Leases,
  type LimitRange,
  type LimitRangeItem,
  LimitRanges,
  type Namespace,
  Namespaces,
  NetworkPolicies,
  type NetworkPolicy,
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
  StatefulSets,
  type Subject,
  type TokenRequest,
} from './core.ts'
export {
  claimRefOf,
  claims,
  type DeploymentTarget,
  type DeploymentTargetSpec,
  type DeploymentTargetStatus,
  DeploymentTargets,
  provisionedByOf,
  type ReclaimPolicy,
  reclaimPolicyOf,
} from './deployment-target.ts'
export {
  askedProvisionerOf,
  type DeploymentTargetClaim,
  type DeploymentTargetClaimSpec,
  type DeploymentTargetClaimStatus,
  DeploymentTargetClaims,
  isBindComplete,
  targetNameOf,
} from './deployment-target-claim.ts'
export {
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  type DeploymentTargetClassSpec,
  type DeploymentTargetClassStatus,
} from './deployment-target-class.ts'
export { type Environment, type EnvironmentSpec, type EnvironmentStatus, Environments } from './environment.ts'
export { type GitProject, type GitProjectSpec, type GitProjectStatus, GitProjects, withoutGit } from './git-project.ts'
export {
  type GitOpsDeployment,
  type GitOpsDeploymentSpec,
  type GitOpsDeploymentStatus,
  GitOpsDeployments,
} from './gitops-deployment.ts'
export {
  type GitOpsDeploymentManagedEnvironment,
  type GitOpsDeploymentManagedEnvironmentSpec,
  type GitOpsDeploymentManagedEnvironmentStatus,
  GitOpsDeploymentManagedEnvironments,
} from './gitops-deployment-managed-environment.ts'
export {
  type GitOpsDeploymentSyncRun,
  type GitOpsDeploymentSyncRunSpec,
  type GitOpsDeploymentSyncRunStatus,
  GitOpsDeploymentSyncRuns,
} from './gitops-deployment-sync-run.ts'
export { covers, type Grantee } from './grantee.ts'
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
} from './indexes.ts'
export {
  type AnyObject,
  apiVersionOf,
  byAge,
  type CustomObject,
  hasFinalizer,
  isDeleting,
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
  withFinalizer,
  withoutFinalizer,
} from './kube-object.ts'
export {
  AGENT_PROVISIONER,
  annotations,
  BERTH_NAMESPACE,
  CREDENTIALS_NAMESPACE,
  finalizers,
  gitAudienceOf,
  KUBECONFIG_KEY,
  labels,
  MANAGED_BY_BERTH,
  nameOfSpaceAccount,
  SANDBOX_PROVISIONER,
  SANDBOX_TIER,
  SPACE_PROVISIONERS,
  secretTypes,
  tunnelAudienceOf,
  YES,
} from './labels.ts'
export { notOnboarded, tenantRoles } from './onboarding.ts'
export { credentialsRefOf, isForWorkspace, isPrivate, isPrivateBy, opens, privateToOf } from './privacy.ts'
export { dataOf, kubeconfigIn, textIn, whyNotRead } from './secret-content.ts'
export { accountOfUser, groupsOfUser, type ServiceAccountName, userOfAccount } from './service-account.ts'
export {
  isMadeFor,
  requesterOf,
  type SpaceRequest,
  type SpaceRequestSpec,
  type SpaceRequestStatus,
  SpaceRequests,
} from './space-request.ts'
export { type SpaceTier, type SpaceTierSpec, type SpaceTierStatus, SpaceTiers } from './space-tier.ts'
export {
  type Workspace,
  type WorkspaceSpec,
  type WorkspaceStatus,
  Workspaces,
  workspaceKeptUntil,
  workspaceObjectName,
  workspaceStateOf,
  workspaceStepsOf,
  workspaceWishOf,
} from './workspace.ts'
export { type WorkspaceClass, WorkspaceClasses, type WorkspaceClassSpec, type WorkspaceClassStatus } from './workspace-class.ts'
