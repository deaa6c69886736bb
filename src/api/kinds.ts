import type { AgentSpec, AgentStatus } from './generated/agent.ts'
import type { DeploymentTargetSpec, DeploymentTargetStatus } from './generated/deployment-target.ts'
import type { DeploymentTargetClaimSpec, DeploymentTargetClaimStatus } from './generated/deployment-target-claim.ts'
import type { DeploymentTargetClassSpec, DeploymentTargetClassStatus } from './generated/deployment-target-class.ts'
import type { EnvironmentSpec, EnvironmentStatus } from './generated/environment.ts'
import type { GitProjectSpec, GitProjectStatus } from './generated/git-project.ts'
import type { GitOpsDeploymentSpec, GitOpsDeploymentStatus } from './generated/gitops-deployment.ts'
import type {
  GitOpsDeploymentManagedEnvironmentSpec,
  GitOpsDeploymentManagedEnvironmentStatus,
} from './generated/gitops-deployment-managed-environment.ts'
import type { GitOpsDeploymentSetSpec, GitOpsDeploymentSetStatus } from './generated/gitops-deployment-set.ts'
import type { GitOpsDeploymentSyncRunSpec, GitOpsDeploymentSyncRunStatus } from './generated/gitops-deployment-sync-run.ts'
import type { PreviewSpec, PreviewStatus } from './generated/preview.ts'
import type { SpaceRequestSpec, SpaceRequestStatus } from './generated/space-request.ts'
import type { SpaceTierSpec, SpaceTierStatus } from './generated/space-tier.ts'
import type { WorkspaceSpec, WorkspaceStatus } from './generated/workspace.ts'
import type { WorkspaceClassSpec, WorkspaceClassStatus } from './generated/workspace-class.ts'
import { type CustomObject, kindsOf } from './kube-object.ts'

const appstudio = kindsOf('appstudio.redhat.com', 'v1alpha1')
const toolchain = kindsOf('toolchain.dev.openshift.com', 'v1alpha1')
const gitops = kindsOf('managed-gitops.redhat.com', 'v1alpha1')
const berth = kindsOf('berth.dev', 'v1alpha1')

/** A place to deploy to. */
export type DeploymentTarget = CustomObject<DeploymentTargetSpec, DeploymentTargetStatus>
export const DeploymentTargets = appstudio<DeploymentTarget>('DeploymentTarget', 'deploymenttargets')

/** A request for a place to deploy to. */
export type DeploymentTargetClaim = CustomObject<DeploymentTargetClaimSpec, DeploymentTargetClaimStatus>
export const DeploymentTargetClaims = appstudio<DeploymentTargetClaim>('DeploymentTargetClaim', 'deploymenttargetclaims')

/** A kind of target that can be claimed. Cluster-scoped, immutable. */
export type DeploymentTargetClass = CustomObject<DeploymentTargetClassSpec, DeploymentTargetClassStatus>
export const DeploymentTargetClasses = appstudio<DeploymentTargetClass>('DeploymentTargetClass', 'deploymenttargetclasses', false)

/** A destination that deliveries can name. */
export type Environment = CustomObject<EnvironmentSpec, EnvironmentStatus>
export const Environments = appstudio<Environment>('Environment', 'environments')

/** A request for a namespace of a tier. */
export type SpaceRequest = CustomObject<SpaceRequestSpec, SpaceRequestStatus>
export const SpaceRequests = toolchain<SpaceRequest>('SpaceRequest', 'spacerequests')

/** The settings of a namespace that is made for a SpaceRequest. Cluster-scoped. */
export type SpaceTier = CustomObject<SpaceTierSpec, SpaceTierStatus>
export const SpaceTiers = berth<SpaceTier>('SpaceTier', 'spacetiers', false)

/** A directory in a Git repository that is kept in effect in an environment. */
export type GitOpsDeployment = CustomObject<GitOpsDeploymentSpec, GitOpsDeploymentStatus>
export const GitOpsDeployments = gitops<GitOpsDeployment>('GitOpsDeployment', 'gitopsdeployments')

/** A cluster that a GitOpsDeployment can deploy to. */
export type GitOpsDeploymentManagedEnvironment = CustomObject<
  GitOpsDeploymentManagedEnvironmentSpec,
  GitOpsDeploymentManagedEnvironmentStatus
>
export const GitOpsDeploymentManagedEnvironments = gitops<GitOpsDeploymentManagedEnvironment>(
  'GitOpsDeploymentManagedEnvironment',
  'gitopsdeploymentmanagedenvironments',
)

/** One synchronisation of a manual GitOpsDeployment. */
export type GitOpsDeploymentSyncRun = CustomObject<GitOpsDeploymentSyncRunSpec, GitOpsDeploymentSyncRunStatus>
export const GitOpsDeploymentSyncRuns = gitops<GitOpsDeploymentSyncRun>('GitOpsDeploymentSyncRun', 'gitopsdeploymentsyncruns')

/** One GitOpsDeployment for each of many. */
export type GitOpsDeploymentSet = CustomObject<GitOpsDeploymentSetSpec, GitOpsDeploymentSetStatus>
export const GitOpsDeploymentSets = berth<GitOpsDeploymentSet>('GitOpsDeploymentSet', 'gitopsdeploymentsets')

/** An environment for each branch. */
export type Preview = CustomObject<PreviewSpec, PreviewStatus>
export const Previews = berth<Preview>('Preview', 'previews')

/** A Git repository that kas knows, and who may read it. */
export type GitProject = CustomObject<GitProjectSpec, GitProjectStatus>
export const GitProjects = berth<GitProject>('GitProject', 'gitprojects')

/** The registration of an agent in a target cluster. */
export type Agent = CustomObject<AgentSpec, AgentStatus>
export const Agents = berth<Agent>('Agent', 'agents')

/** A development environment that runs in a cluster. */
export type Workspace = CustomObject<WorkspaceSpec, WorkspaceStatus>
export const Workspaces = berth<Workspace>('Workspace', 'workspaces')

/** Settings that workspaces share. Cluster-scoped. */
export type WorkspaceClass = CustomObject<WorkspaceClassSpec, WorkspaceClassStatus>
export const WorkspaceClasses = berth<WorkspaceClass>('WorkspaceClass', 'workspaceclasses', false)

/** All of them. */
export const OWN_KINDS = [
  DeploymentTargets,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  Environments,
  SpaceRequests,
  SpaceTiers,
  GitOpsDeployments,
  GitOpsDeploymentSets,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSyncRuns,
  Previews,
  GitProjects,
  Agents,
  Workspaces,
  WorkspaceClasses,
]
