/**
 * Every label, annotation, finalizer and well-known name that Berth reads or writes. The groups' prefixes are the seeds' own,
 * so that objects written for them keep their meaning; what is ours lies under berth.dev.
 */

import type { KubeObject } from './kube-object.ts'

/** hack/update-reference-docs.ts makes the tables of docs/labels.md of these and their comments, so that each has one. */
export const annotations = {
  /** On a claim: the provisioner that is asked to make a target. */
  provisioner: 'provisioner.appstudio.redhat.com/dt-provisioner',
  /** On a claim: the same, as the design document spells it. It is read, and never written. */
  provisionerMisspelt: 'provionser.appstudio.redhat.com/dt-provisioner',
  /** On a target: the provisioner that made it. */
  provisionedBy: 'provisioner.appstudio.redhat.com/provisioned-by',
  /** On a target: the same, as the design document spells it. It is read, and never written. */
  provisionedByMisspelt: 'provionser.appstudio.redhat.com/provisioned-by',
  /** On a claim: the binding is complete. */
  bindComplete: 'dt.appstudio.redhat.com/bind-complete',
  /** On a claim: Berth chose the target. */
  boundByController: 'dt.appstudio.redhat.com/bound-by-controller',
  /** On a GitProject: anything new in it makes kas look for commits at once. */
  poke: 'gitops.berth.dev/poke',
  /** On a GitOpsDeployment: anything new in it has everything compared and tried again at once, whatever the sync windows say. */
  sync: 'gitops.berth.dev/sync',
  /** On a GitOpsDeployment of a GitOpsDeploymentSet: what of the template it is as, so that a change is seen. */
  setTemplate: 'gitops.berth.dev/set-template',
  /** On a GitOpsDeployment: the commit whose deletions somebody has confirmed. */
  confirmPrune: 'gitops.berth.dev/confirm-prune',
  /** On a Released target: `true` makes it Available again. */
  recycle: 'berth.dev/recycle',
  /** On a target or SpaceRequest whose claim is still there: `true` lets its deletion take the namespace with all that is in it. */
  confirmDeletion: 'berth.dev/confirm-deletion',
  /** On a deleting target: why its provisioner cannot free what is behind it. Empty or absent: it is still at it. */
  reclaimFailed: 'provisioner.appstudio.redhat.com/reclaim-failed',
  /** On what a provisioner makes: the reclaim policy of the class at that time, so that a class that is gone does not matter. */
  reclaimPolicy: 'berth.dev/reclaim-policy',
  /** On a workspace, Preview, claim, SpaceRequest and GitOpsDeploymentSyncRun: who asked for it, name and groups on a line each. Admission writes it. */
  requester: 'berth.dev/requester',
  /** On a SpaceRequest: the Agent, as `namespace/name`, in whose cluster the namespace is made. Absent: in this cluster. */
  agent: 'berth.dev/agent',
  /** On an Agent: the address under which its pods reach kas, for those who make manifests. */
  kasAddress: 'berth.dev/kas-address',
  /** On a SpaceRequest made for a claim: the class's `spec.parameters`, as JSON. */
  parameters: 'berth.dev/parameters',
  /** On a namespace and on a target: the SpaceRequest it was made for or of, as `namespace/name`. */
  spaceRequest: 'berth.dev/spacerequest',
  /** On a namespace: the keys of labels and annotations that its tier put there, as JSON; so those that leave the tier are known. */
  tierKeys: 'berth.dev/tier-keys',
  /** On a namespace: the class of the claims that onboarding makes. */
  onboardingClass: 'berth.dev/onboarding-class',
  /** On a namespace: what onboarding made, so that it is made once. */
  onboarded: 'berth.dev/onboarded',
  /** On a Workspace: anything new in it has its variables frozen again, as they are now. */
  refreshVariables: 'berth.dev/refresh-variables',
  /** On a Secret with variables: `environment`, or `file` for those that become files. */
  variablesType: 'berth.dev/variables-type',
  /** On a Secret with variables: the group's or project's path, or the user, for whose workspaces they are. */
  variablesOf: 'berth.dev/variables-of',
  /** On the frozen variables of a workspace: their names, as JSON. */
  variables: 'berth.dev/variables',
  /** On a Secret with Git credentials: the user name of the one person whose workspaces may use it. */
  gitOwner: 'berth.dev/git-owner',
  /** On a Workspace, by the proxy: when somebody last used it. */
  lastActivity: 'berth.dev/last-activity',
  /** On a Workspace, by the proxy: when it last looked whether somebody uses it. */
  activityWatched: 'berth.dev/activity-watched-at',
  /**
   * On a Workspace, by the proxy: how it was last used, `Requests`, or `Connection` for what somebody sent on a connection that was
   * upgraded, such as an editor's.
   */
  lastActivityBy: 'berth.dev/last-activity-by',
  /** On a claim of a warm pool: the class that it is for. */
  warmClass: 'berth.dev/warm-class',
  /** On a claim of a warm pool: what it was made from, so that a change of the class retires it. */
  warmRecipe: 'berth.dev/warm-recipe',
  /** On a claim of a warm pool: how far it is, `ready`, or `retired` and when. */
  warmState: 'berth.dev/warm-state',
  /** On a claim of a warm pool: the namespace of its target, where the class names one. */
  warmNamespace: 'berth.dev/warm-namespace',
  /** On the Environment of a Preview: the branch that it is for. */
  branch: 'berth.dev/branch',
  /** On the Environment of a Preview, by somebody who keeps it: a time before which it does not expire, or `forever`. */
  previewKeep: 'berth.dev/preview-keep',
  /** On the Environment of a Preview, by somebody who ends it: the commit with which it goes, unless something was pushed since. */
  previewExpire: 'berth.dev/preview-expire',
  /** On a claim: the volume in its target that was made before there was a workspace. */
  volume: 'berth.dev/volume',
  /**
   * On a claim, SpaceRequest and target that are private: on the first two who gets in, one person's user name; empty while there is
   * none. Absent: the credentials are beside the claim, for all who read Secrets there. Policy private.berth.dev keeps it.
   */
  privateTo: 'berth.dev/private-to',
  /** On a DeploymentTargetClass: `true` for the one that is meant when nobody names one. */
  defaultClass: 'berth.dev/is-default-class',
} as const

export const labels = {
  /** On a SpaceRequest: the name of the claim it was made for. */
  claim: 'appstudio.openshift.io/dtc',
  /** On a SpaceRequest: the name of the target that was made from it. */
  target: 'appstudio.openshift.io/dt',
  /** On a provisioned target, a SpaceRequest and a managed environment: the UID of the claim, which a name cannot replace. */
  claimUid: 'berth.dev/claim-uid',
  /** On a GitOpsDeployment that was made for a GitOpsDeploymentSet: the name of that. */
  deploymentSet: 'gitops.berth.dev/set',
  /** On what was made for a Preview: the name of that. */
  preview: 'berth.dev/preview',
  /** On the copy of a credentials Secret: the Environment it is for. */
  environmentSecret: 'appstudio.openshift.io/environment-secret',
  /** On a space and its Secret: the name of the SpaceRequest they were made for. */
  spaceRequest: 'toolchain.dev.openshift.com/spacerequest',
  /** On a space and its Secret: the namespace of the SpaceRequest they were made for. */
  spaceRequestNamespace: 'toolchain.dev.openshift.com/spacerequest-namespace',
  /** On a space and its Secret: the UID of the SpaceRequest they were made for. */
  spaceRequestUid: 'berth.dev/spacerequest-uid',
  /** On the Secret of a SpaceRequest: the namespace it gives access to. */
  provisionedNamespace: 'toolchain.dev.openshift.com/spacerequest-provisioned-namespace',
  /** On a namespace: the tier it follows. */
  tier: 'toolchain.dev.openshift.com/tier',
  /** On everything that Berth makes: `berth`. */
  managedBy: 'app.kubernetes.io/managed-by',
  /** On the kinds, and on the Leases of the operator and of kas: the version of Berth that they are of. */
  version: 'app.kubernetes.io/version',
  /** On what is made for a workspace: its name. */
  workspace: 'berth.dev/workspace',
  /** On what is made for a workspace: its UID. */
  workspaceUid: 'berth.dev/workspace-uid',
  /** On an object that the devfile of a workspace brings along: the UID of the workspace. */
  workspaceManifest: 'berth.dev/workspace-manifest',
  /** On the pods of such objects: the name of the component that they are from. */
  workspaceComponent: 'berth.dev/workspace-component',
  /** On the pods of a workspace: which of its pods it is. */
  workspacePart: 'berth.dev/workspace-part',
  /** On a WorkspaceClass or DeploymentTargetClass: where what is made by it is. Kubernetes' own, which nodes have, too. */
  region: 'topology.kubernetes.io/region',
  /** On a claim of a warm pool, while it waits for a workspace: the UID of its class. */
  warmPool: 'berth.dev/warm-pool',
  /** On the volume of such a claim: the UID of the claim. */
  warmClaim: 'berth.dev/warm-claim',
  /** On a Secret: `true` lets workspaces of its namespace take variables from it. */
  workspaceVariables: 'berth.dev/workspace-variables',
  /** On a Secret: `group`, `project` or `user`: workspaces of its namespace inherit its keys as variables. */
  variablesLevel: 'berth.dev/variables',
  /** On a Secret: `true` lets workspaces use it for Git, if they belong to the owner that its annotation names. */
  gitCredentials: 'berth.dev/git-credentials',
  /** On a namespace: `true` asks for Environments and claims made in advance. */
  onboarding: 'berth.dev/onboarding',
  /** On a space: the level of the Pod Security Standards of its tier. Kubernetes' own. */
  podSecurity: 'pod-security.kubernetes.io/enforce',
} as const

/** The version of Berth that an object says it is of. */
export const labelledVersion = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[labels.version]

/** Value of `annotations.previewKeep`. */
export const FOREVER = 'forever'

/** Value of `labels.managedBy`. */
export const MANAGED_BY_BERTH = 'berth'

export const finalizers = {
  /** On a claim: its target is released before the claim goes. */
  claim: 'binder.appstudio.redhat.com/finalizer',
  /** On a target: it goes when what it stands for is freed. */
  target: 'dt.appstudio.redhat.com/finalizer',
  /** On a target, by the provisioner that made it: freed before the target goes. */
  provisioner: 'provisioner.appstudio.redhat.com/finalizer',
  /** On a SpaceRequest: its namespace is deleted before the request goes. */
  spaceRequest: 'finalizer.toolchain.dev.openshift.com',
  /** On a GitOpsDeployment, by whoever writes it: what it applied is deleted before the deployment goes. */
  gitopsDeployment: 'resources-finalizer.managed-gitops.redhat.com',
  /** On a GitOpsDeployment: the same, as Argo CD spells it. */
  argoApplication: 'resources-finalizer.argocd.argoproj.io',
  /** On a GitOpsDeployment with a deletionPolicy, by Berth: the policy is carried out before the deployment goes. */
  gitopsObjects: 'gitops.berth.dev/objects',
  /** On a Workspace: what it has in its target is removed before the Workspace goes. */
  workspace: 'berth.dev/workspace',
} as const

/** The value of an annotation that says yes. */
export const YES = 'true'

/** Types of Secrets that mean something here. */
export const secretTypes = {
  opaque: 'Opaque',
  managedEnvironment: 'managed-gitops.redhat.com/managed-environment',
} as const

/** The key under which a Secret holds a kubeconfig. */
export const KUBECONFIG_KEY = 'kubeconfig'

/** The provisioner that makes namespaces from SpaceRequests, and the tier it asks for. */
export const SANDBOX_PROVISIONER = 'appstudio.redhat.com/devsandbox'
export const SANDBOX_TIER = 'appstudio-env'

/** The same in the cluster of an Agent, which the class names in `parameters.agent`. */
export const AGENT_PROVISIONER = 'berth.dev/agent-namespace'

/** The provisioners that answer claims with SpaceRequests. */
export const SPACE_PROVISIONERS: readonly string[] = [SANDBOX_PROVISIONER, AGENT_PROVISIONER]

/** The service account beside a SpaceRequest whose tokens open the space in an agent's cluster. */
export const nameOfSpaceAccount = (uid: string): string => `berth-space-${uid.replaceAll('-', '').slice(0, 20)}`

/** Berth's own programs live there. */
export const BERTH_NAMESPACE = 'berth-system'

/** Beside them: the ConfigMap in which the proxies say how they are reached over SSH, and the Secret with the key behind it. */
export const SSH_GATEWAY = 'berth-proxy-ssh'

/** The Secret with the key by which the proxies sign certificates for SSH. */
export const SSH_AUTHORITY = 'berth-proxy-ssh-authority'

/** The label of what belongs to an installation. */
export const PART_OF_BERTH = { 'app.kubernetes.io/part-of': 'berth' } as const

/** Of the Lease by which a kas shows the others that it lives. */
export const KAS_PRESENCE = { 'app.kubernetes.io/name': 'berth-kas', 'app.kubernetes.io/component': 'presence' } as const

/** The Secret of the authority of an installation, and the name that the authority has in certificates. */
export const BERTH_AUTHORITY = 'berth-authority'

/** The credentials of private spaces lie there, which nobody reads but Berth. */
export const CREDENTIALS_NAMESPACE = 'berth-credentials'

/**
 * For whom the token of a workspace's pod is issued that it shows kas. It names the workspace, so that the token is of no use at
 * any other door of kas, nor for another workspace.
 */
export const gitAudienceOf = (workspaceUid: string): string => `berth-git/${workspaceUid}`

/** The same for the token by which its pod opens tunnels to kas. */
export const tunnelAudienceOf = (workspaceUid: string): string => `berth-tunnel/${workspaceUid}`
