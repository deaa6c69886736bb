import { container, creating, event, is, NODE, pod, type Row, SET_UP, starting, waiting } from './objects.ts'

const fresh = pod({ main: [creating] })
const MOUNT =
  'MountVolume.SetUp failed for volume "workspace-data" : rpc error: code = DeadlineExceeded desc = context deadline exceeded'

/** What keeps a pod that has a node from its containers. */
export const MOUNTS: Row[] = [
  {
    why: 'mount: a pod that is being prepared is in no trouble',
    given: { deployment: starting, pods: [fresh] },
    state: 'Starting',
    step: 'Volume',
  },
  {
    why: 'mount: one failure is waited for',
    given: { deployment: starting, pods: [fresh], events: [event('FailedMount', MOUNT, { first: 10 })] },
    state: 'Starting',
    reason: 'VolumeNotMounted',
    step: 'Volume',
    until: 170,
  },
  {
    why: 'mount: failures for three minutes',
    given: {
      deployment: starting,
      pods: [pod({ age: 240, main: [creating] })],
      events: [event('FailedMount', MOUNT, { first: 200, count: 9 })],
    },
    state: 'Failed',
    reason: 'VolumeNotMounted',
    step: 'Volume',
    says: /9 attempts, waited 3 minutes/,
  },
  {
    why: 'mount: a failure of long ago is over',
    given: { deployment: starting, pods: [fresh], events: [event('FailedMount', MOUNT, { first: 900, last: 600 })] },
    state: 'Starting',
    step: 'Volume',
  },
  {
    why: 'mount: a failure of another pod is not ours',
    given: { deployment: starting, pods: [fresh], events: [event('FailedMount', MOUNT, { on: 'uid-other' })] },
    state: 'Starting',
    step: 'Volume',
  },
  {
    why: 'mount: a failure before the volumes were there is over',
    given: {
      deployment: starting,
      pods: [pod({ main: [creating], conditions: [NODE, SET_UP] })],
      events: [event('FailedMount', MOUNT)],
    },
    state: 'Starting',
    step: 'Image tools',
  },
  {
    why: 'mount: a Secret that is not there',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [
        event('FailedMount', 'MountVolume.SetUp failed for volume "variables" : secret "workspace-web-variables" not found', {
          first: 20,
        }),
      ],
    },
    state: 'Starting',
    reason: 'MountSourceMissing',
    step: 'Volume',
    until: 40,
  },
  {
    why: 'mount: a key of a ConfigMap that is not there',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [
        event(
          'FailedMount',
          'MountVolume.SetUp failed for volume "scripts" : configmap references non-existent config key: run.sh',
        ),
      ],
    },
    state: 'Failed',
    reason: 'MountSourceMissing',
    step: 'Volume',
  },
  {
    why: 'mount: a device that cannot be mapped',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [event('FailedMapVolume', 'MapVolume.SetUpDevice failed for volume "pv-1"')],
    },
    state: 'Starting',
    reason: 'VolumeNotMounted',
    step: 'Volume',
    until: 120,
  },
  {
    why: 'attach: another node holds it',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [
        event('FailedAttachVolume', 'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) workspace-web-0'),
      ],
    },
    state: 'Starting',
    reason: 'VolumeInUse',
    step: 'Volume',
    until: 360,
  },
  {
    why: 'attach: another node holds it for seven minutes',
    given: {
      deployment: starting,
      pods: [pod({ age: 430, main: [creating] })],
      events: [
        event('FailedAttachVolume', 'Multi-Attach error for volume "pv-1" Volume is already exclusively attached to one node', {
          first: 425,
        }),
      ],
    },
    state: 'Failed',
    reason: 'VolumeInUse',
    step: 'Volume',
  },
  {
    why: 'attach: the provider refuses',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [event('FailedAttachVolume', 'AttachVolume.Attach failed for volume "pv-1" : rpc error: code = NotFound')],
    },
    state: 'Starting',
    reason: 'VolumeNotAttached',
    step: 'Volume',
    until: 120,
  },
  {
    why: 'attach: the latest word counts',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [event('FailedAttachVolume', 'Multi-Attach error', { last: 50 }), event('FailedMount', MOUNT, { last: 3 })],
    },
    state: 'Starting',
    reason: 'VolumeNotMounted',
    step: 'Volume',
    until: 120,
  },
  {
    why: 'sandbox: a network that is not ready',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [event('NetworkNotReady', 'network is not ready: container runtime network not ready: cni plugin not initialized')],
    },
    state: 'Starting',
    reason: 'SandboxFailed',
    step: 'Sandbox',
    until: 120,
  },
  {
    why: 'sandbox: no address left',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [
        event(
          'FailedCreatePodSandBox',
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: no IP addresses available in range set',
          { count: 4 },
        ),
      ],
    },
    state: 'Starting',
    reason: 'SandboxFailed',
    step: 'Sandbox',
    until: 120,
    says: /4 attempts/,
  },
  {
    why: 'sandbox: a runtime that the node does not have',
    given: {
      deployment: starting,
      pods: [fresh],
      events: [
        event(
          'FailedCreatePodSandBox',
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "kata" is configured',
        ),
      ],
    },
    state: 'Failed',
    reason: 'RuntimeHandlerMissing',
    step: 'Sandbox',
  },
  {
    why: 'sandbox: no trouble once a container was tried',
    given: {
      deployment: starting,
      pods: [
        pod({
          main: [container('tools', waiting('ErrImagePull', 'rpc error: i/o timeout'))],
          conditions: [NODE, is('PodReadyToStartContainers', 'True')],
        }),
      ],
      events: [event('FailedCreatePodSandBox', 'no IP addresses')],
    },
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 120,
  },
]
