import { ADMIN, type Cause } from './cause.ts'
import { PATIENCE } from './patience.ts'

const RESTART = 'set desiredState to RestartRequested'

/** What keeps a pod from being made, from finding a node, and from being prepared there. */
export const BEFORE_START = {
  QuotaExceeded: {
    step: 'Admission',
    what: 'is over the quota of its namespace',
    remedy:
      'Ask for less memory and CPU in the devfile, stop another workspace of the target, or have the quota raised; it is tried again by itself.',
    patience: PATIENCE.none,
  },
  QuotaNeedsResources: {
    step: 'Admission',
    what: 'lacks requests or limits that the quota of its namespace asks for',
    remedy: 'Give the containers of the devfile memoryRequest, memoryLimit, cpuRequest and cpuLimit, or the class defaults.',
    patience: PATIENCE.none,
  },
  LimitRangeViolated: {
    step: 'Admission',
    what: 'asks for more or less than the LimitRange of its namespace allows',
    remedy: 'Bring the requests and limits of the devfile within the LimitRange.',
    patience: PATIENCE.none,
  },
  PodSecurityViolated: {
    step: 'Admission',
    what: 'breaks the Pod Security Standard of its namespace',
    remedy: `Use a class whose pods comply with it, or have ${ADMIN} relax the namespace's level.`,
    patience: PATIENCE.none,
  },
  PolicyDenied: {
    step: 'Admission',
    what: 'was refused by a policy of the target',
    remedy: "Change the devfile so that the target's policies admit its pod.",
    patience: PATIENCE.none,
  },
  WebhookUnavailable: {
    step: 'Admission',
    what: 'cannot be admitted, because a webhook of the target does not answer',
    remedy: `Wait, or tell ${ADMIN} which webhook it is.`,
    patience: PATIENCE.restarts,
  },
  ServiceAccountMissing: {
    step: 'Admission',
    what: 'lacks its ServiceAccount',
    remedy: 'Make any change to the workspace, such as a restart: all its objects are applied again.',
    patience: PATIENCE.companions,
  },
  RuntimeClassMissing: {
    step: 'Admission',
    what: 'names a RuntimeClass that the target does not have',
    remedy: 'Correct defaultRuntimeClass of the class and make the workspace again, or have the RuntimeClass added.',
    patience: PATIENCE.none,
  },
  PriorityClassMissing: {
    step: 'Admission',
    what: 'names a PriorityClass that the target does not have',
    remedy: `Have ${ADMIN} add the PriorityClass, or leave it out.`,
    patience: PATIENCE.none,
  },
  NamespaceTerminating: {
    step: 'Admission',
    what: 'cannot be made, because its namespace is being deleted',
    remedy: 'Make another workspace; this target is going away.',
    patience: PATIENCE.none,
  },
  PodInvalid: {
    step: 'Admission',
    what: 'is not a valid pod',
    remedy: 'Correct what the message names in the devfile or in the class.',
    patience: PATIENCE.none,
  },
  PodRefused: {
    step: 'Admission',
    what: 'could not make its pod',
    remedy: "Change the devfile so that the target's policies admit its pod.",
    patience: PATIENCE.none,
  },
  ControllerSilent: {
    step: 'Admission',
    what: 'was not looked at by the controllers of the target',
    remedy: `Ask ${ADMIN} whether its kube-controller-manager runs.`,
    patience: PATIENCE.nodes,
  },
  DeploymentPaused: {
    step: 'Admission',
    what: 'is paused, so nothing of it changes',
    remedy: 'Set spec.paused of the Deployment to false in the target.',
    patience: PATIENCE.forever,
  },
  Unschedulable: {
    step: 'Scheduling',
    what: 'finds no node that has room for it',
    remedy: 'Ask for less memory and CPU in the devfile, or add a node to the target.',
    patience: PATIENCE.nodes,
  },
  NoNodeMatches: {
    step: 'Scheduling',
    what: 'finds no node that it may run on',
    remedy: `Have ${ADMIN} add a node with the labels and without the taints that the message names.`,
    patience: PATIENCE.nodes,
  },
  NoNodes: {
    step: 'Scheduling',
    what: 'finds no node at all',
    remedy: `Ask ${ADMIN} for nodes: the cluster has none that take pods.`,
    patience: PATIENCE.nodes,
  },
  SchedulerSilent: {
    step: 'Scheduling',
    what: 'was not looked at by the scheduler',
    remedy: `Ask ${ADMIN} whether its kube-scheduler runs.`,
    patience: PATIENCE.nodes,
  },
  SchedulingGated: {
    step: 'Scheduling',
    what: 'is held back from scheduling by a gate',
    remedy: 'Have whoever put the scheduling gate on the pod take it away.',
    patience: PATIENCE.nodes,
  },
  VolumeNotBound: {
    step: 'Volume',
    what: 'waits for its volume to be made',
    remedy: "Check the class's storageClassName and that the target can provision such a volume.",
    patience: PATIENCE.volumes,
  },
  NoStorageClass: {
    step: 'Volume',
    what: 'has no storage class, and the target has no default one',
    remedy: 'Set storage.storageClassName in the class and make the workspace again, or have a default StorageClass chosen.',
    patience: PATIENCE.volumes,
  },
  StorageClassMissing: {
    step: 'Volume',
    what: 'names a storage class that the target does not have',
    remedy: 'Correct storage.storageClassName of the class and make the workspace again, or have the StorageClass added.',
    patience: PATIENCE.none,
  },
  VolumeProvisioningFailed: {
    step: 'Volume',
    what: 'could not be provisioned',
    remedy: `Show the message to ${ADMIN}: the storage provider refuses.`,
    patience: PATIENCE.volumes,
  },
  VolumeClaimMissing: {
    step: 'Volume',
    what: 'lacks its PersistentVolumeClaim',
    remedy: 'Make any change to the workspace, such as a restart: all its objects are applied again, the volume empty.',
    patience: PATIENCE.companions,
  },
  VolumeClaimEnding: {
    step: 'Volume',
    what: 'cannot use its PersistentVolumeClaim, which is being deleted',
    remedy: 'Stop the workspace, so that the deletion can end, and start it again with an empty volume.',
    patience: PATIENCE.none,
  },
  VolumeLost: {
    step: 'Volume',
    what: 'has lost its volume',
    remedy: 'Restore the PersistentVolume from a backup, or make another workspace: the data are not there any more.',
    patience: PATIENCE.none,
  },
  VolumeElsewhere: {
    step: 'Volume',
    what: 'has its volume where no node takes the pod',
    remedy: 'Bring back a node in the zone of the volume, or make another workspace.',
    patience: PATIENCE.nodes,
  },
  VolumeInUse: {
    step: 'Volume',
    what: 'waits for its volume, which another node still holds',
    remedy: 'Wait until the node gives it up, or delete the old pod by force if its node is gone for good.',
    patience: PATIENCE.detaching,
  },
  VolumeNotAttached: {
    step: 'Volume',
    what: 'cannot have its volume attached to its node',
    remedy: `Show the message to ${ADMIN}; ${RESTART} to try another node.`,
    patience: PATIENCE.volumes,
  },
  VolumeNotMounted: {
    step: 'Volume',
    what: 'cannot have its volume mounted',
    remedy: `Show the message to ${ADMIN}; ${RESTART} to try another node.`,
    patience: PATIENCE.volumes,
  },
  MountSourceMissing: {
    step: 'Volume',
    what: 'mounts a Secret or ConfigMap that is not there',
    remedy: 'Create the Secret or ConfigMap that the message names in the namespace of the target.',
    patience: PATIENCE.companions,
  },
  SandboxFailed: {
    step: 'Sandbox',
    what: 'cannot be given its network and sandbox on its node',
    remedy: `Show the message to ${ADMIN}; ${RESTART} to try another node.`,
    patience: PATIENCE.volumes,
  },
  RuntimeHandlerMissing: {
    step: 'Sandbox',
    what: 'asks for a container runtime that its node does not have',
    remedy: 'Correct defaultRuntimeClass of the class and make the workspace again, or have the runtime installed.',
    patience: PATIENCE.none,
  },
} as const satisfies Record<string, Cause>
