import { ADMIN, type Cause } from './cause.ts'
import { PATIENCE } from './patience.ts'

const RESTART = 'set desiredState to RestartRequested'

/** What keeps containers from starting, staying and answering, and what takes a pod away from its node. */
export const OF_CONTAINERS = {
  InvalidImageName: {
    step: 'Image',
    what: 'names no valid image',
    remedy: 'Correct the image in the devfile.',
    patience: PATIENCE.none,
  },
  ErrImageNeverPull: {
    step: 'Image',
    what: 'may not pull its image, and the node does not have it',
    remedy: 'Load the image onto the node, or use one from a registry.',
    patience: PATIENCE.none,
  },
  ImageNotFound: {
    step: 'Image',
    what: 'names an image that is not there',
    remedy: 'Correct the image in the devfile, or push it; it is tried again by itself.',
    patience: PATIENCE.none,
  },
  ImagePullDenied: {
    step: 'Image',
    what: 'may not pull its image',
    remedy: 'Correct the image in the devfile, or add credentials for its registry to imagePullSecrets of the class.',
    patience: PATIENCE.none,
  },
  ImageWrongPlatform: {
    step: 'Image',
    what: "names an image that is not there for its node's processor",
    remedy: 'Use an image that is built for the platform of the nodes.',
    patience: PATIENCE.none,
  },
  ImageSignatureRefused: {
    step: 'Image',
    what: 'names an image whose signature is not accepted',
    remedy: 'Use an image that is signed as the target asks.',
    patience: PATIENCE.none,
  },
  ImagePullRateLimited: {
    step: 'Image',
    what: 'was refused its image, because the registry limits pulls',
    remedy: 'Wait, add credentials for the registry to imagePullSecrets of the class, or use a mirror.',
    patience: PATIENCE.pullLimit,
  },
  RegistryUnreachable: {
    step: 'Image',
    what: 'cannot get its image, because the registry cannot be reached',
    remedy: 'Check the host in the image of the devfile, and that the nodes can reach that registry.',
    patience: PATIENCE.registry,
  },
  NodeDiskFull: {
    step: 'Image',
    what: 'cannot get its image, because the disk of its node is full',
    remedy: `Set desiredState to RestartRequested to try another node, and tell ${ADMIN}.`,
    patience: PATIENCE.registry,
  },
  ImagePullBackOff: {
    step: 'Image',
    what: 'cannot get its image',
    remedy: 'Correct the image in the devfile, or add its registry to imagePullSecrets of the class.',
    patience: PATIENCE.registry,
  },
  EnvSourceMissing: {
    step: 'ContainerStart',
    what: 'takes a variable from a Secret or ConfigMap, or a key of it, that is not there',
    remedy: 'Create what the message names in the namespace of the target, or correct env in the devfile.',
    patience: PATIENCE.companions,
  },
  ImageRunsAsRoot: {
    step: 'ContainerStart',
    what: 'has an image that runs as root, which is not allowed',
    remedy: 'Use an image that runs as any non-root user.',
    patience: PATIENCE.none,
  },
  CommandNotFound: {
    step: 'ContainerStart',
    what: 'has a command that is not in its image',
    remedy: 'Correct command and args in the devfile, or use an image that has the program.',
    patience: PATIENCE.none,
  },
  CommandNotExecutable: {
    step: 'ContainerStart',
    what: 'has a command that may not be executed',
    remedy: 'Make the file executable for any user in the image, or correct command in the devfile.',
    patience: PATIENCE.none,
  },
  RuntimeBusy: {
    step: 'ContainerStart',
    what: 'is not created in time by the runtime of its node',
    remedy: `Wait, or ${RESTART} to try another node.`,
    patience: PATIENCE.restarts,
  },
  CreateContainerConfigError: {
    step: 'ContainerStart',
    what: 'has a configuration that cannot be applied',
    remedy: 'Correct env and volumeMounts of the container in the devfile.',
    patience: PATIENCE.none,
  },
  CreateContainerError: {
    step: 'ContainerStart',
    what: 'cannot be created',
    remedy: 'Correct command, env and volumeMounts of the container in the devfile. The image must run as any non-root user.',
    patience: PATIENCE.none,
  },
  RunContainerError: {
    step: 'ContainerStart',
    what: 'cannot be started',
    remedy: 'Correct command, env and volumeMounts of the container in the devfile. The image must run as any non-root user.',
    patience: PATIENCE.none,
  },
  OutOfMemory: {
    step: 'Run',
    what: 'needs more memory than its limit and is killed',
    remedy: 'Raise memoryLimit in the devfile.',
    patience: PATIENCE.none,
  },
  ContainerCompleted: {
    step: 'Run',
    what: 'ends by itself',
    remedy: 'Give it a command that stays, or the attribute overrideCommand: true.',
    patience: PATIENCE.none,
  },
  CrashLoopBackOff: {
    step: 'Run',
    what: 'ends again and again',
    remedy:
      "Read the container's log. An image that ends at once needs a command that stays, or the attribute overrideCommand: true.",
    patience: PATIENCE.none,
  },
  ContainerKilled: {
    step: 'Run',
    what: 'is killed again and again',
    remedy: "Read the container's log, and check its memory and what kills it from outside.",
    patience: PATIENCE.none,
  },
  ContainerRestarting: {
    step: 'Run',
    what: 'has ended and is started again',
    remedy: "Read the container's log if it goes on.",
    patience: PATIENCE.restarts,
  },
  NodeGone: {
    step: 'Run',
    what: 'is on a node that does not answer',
    remedy: `Wait until the node is back, or ask ${ADMIN} to remove it: then the workspace starts on another.`,
    patience: PATIENCE.nodes,
  },
  Evicted: {
    step: 'Run',
    what: 'was evicted, because its node ran short',
    remedy: 'Set memoryRequest in the devfile to what the workspace needs, or add a node to the target.',
    patience: PATIENCE.nodes,
  },
  StorageLimitExceeded: {
    step: 'Run',
    what: 'was evicted, because it wrote more than its ephemeral storage allows',
    remedy: 'Raise the size of the ephemeral volume in the devfile, or write to a volume that lasts.',
    patience: PATIENCE.restarts,
  },
  Preempted: {
    step: 'Run',
    what: 'had to make room for a pod of higher priority',
    remedy: 'Wait for another node, or have nodes added to the target.',
    patience: PATIENCE.nodes,
  },
  NodeShutdown: {
    step: 'Run',
    what: 'ended with its node, which was shut down',
    remedy: 'Wait: it starts on another node as soon as there is one.',
    patience: PATIENCE.nodes,
  },
  PodRejected: {
    step: 'Run',
    what: 'was rejected by its node',
    remedy: `Wait, or ask ${ADMIN} why the node takes no such pods.`,
    patience: PATIENCE.restarts,
  },
  PodEnded: {
    step: 'Run',
    what: 'has ended',
    remedy: 'Read its log in the target; a new pod is made by itself.',
    patience: PATIENCE.restarts,
  },
  InitContainerFailed: {
    step: 'InitContainer',
    what: 'fails before the workspace starts',
    remedy: 'Read its log, and correct the preStart command or what it needs.',
    patience: PATIENCE.none,
  },
  PostStartFailed: {
    step: 'PostStart',
    what: 'was ended, because its postStart command failed',
    remedy: 'Read the log of the postStart command and correct it in the devfile.',
    patience: PATIENCE.none,
  },
  ProbeFailing: {
    step: 'Probes',
    what: 'runs and does not answer its probe',
    remedy: 'Wait if it starts slowly; else check in its log that it listens on the port of its endpoint.',
    patience: PATIENCE.start,
  },
  LivenessFailed: {
    step: 'Probes',
    what: 'is killed again and again, because it does not answer its probe',
    remedy: 'Check in its log why it hangs, and that it listens on the port of its endpoint.',
    patience: PATIENCE.none,
  },
  StartTimeout: {
    step: 'Probes',
    what: 'did not become ready in time',
    remedy: `Look at the pod in the target; then ${RESTART}.`,
    patience: PATIENCE.none,
  },
  PodNotEnding: {
    step: 'Stop',
    what: 'does not end, probably because its node is gone',
    remedy: 'Bring back the node, or delete the pod by force if it is gone for good.',
    patience: PATIENCE.nodes,
  },
} as const satisfies Record<string, Cause>
