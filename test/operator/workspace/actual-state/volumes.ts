import { ago, event, homeless, type Row, starting, volume } from './objects.ts'

const NODES = '0/3 nodes are available: '
const CPU = `${NODES}3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.`
const UNBOUND = homeless(`${NODES}pod has unbound immediate PersistentVolumeClaims. not found`)
const about = { on: 'uid-volume' }

/** What keeps a volume from being there. */
export const VOLUMES: Row[] = [
  {
    why: 'volume: one that is not bound is waited for',
    given: { deployment: starting, pods: [UNBOUND] },
    state: 'Starting',
    reason: 'VolumeNotBound',
    step: 'Volume',
    until: 120,
  },
  {
    why: 'volume: one that is not bound for three minutes is Failed',
    given: { deployment: starting, pods: [homeless('pod has unbound immediate PersistentVolumeClaims', 180)] },
    state: 'Failed',
    reason: 'VolumeNotBound',
    step: 'Volume',
    says: /waited 3 minutes/,
  },
  {
    why: 'volume: a claim without class, where nothing provisions it',
    given: { deployment: starting, pods: [UNBOUND], claims: [volume()] },
    state: 'Starting',
    reason: 'NoStorageClass',
    step: 'Volume',
    until: 120,
    says: /^PersistentVolumeClaim workspace-web has no storage class/,
  },
  {
    why: 'volume: a class that is not there, at once',
    given: {
      deployment: starting,
      pods: [UNBOUND],
      claims: [volume({ phase: 'Pending' }, 'fast')],
      events: [event('ProvisioningFailed', 'storageclass.storage.k8s.io "fast" not found', about)],
    },
    state: 'Failed',
    reason: 'StorageClassMissing',
    step: 'Volume',
    says: /"fast" not found/,
  },
  {
    why: 'volume: a provider that refuses is tried again',
    given: {
      deployment: starting,
      pods: [UNBOUND],
      claims: [volume({ phase: 'Pending' }, 'fast')],
      events: [
        event(
          'ProvisioningFailed',
          'failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = quota exceeded',
          { ...about, count: 5 },
        ),
      ],
    },
    state: 'Starting',
    reason: 'VolumeProvisioningFailed',
    step: 'Volume',
    until: 120,
    says: /5 attempts/,
  },
  {
    why: 'volume: a claim that still waits for its first pod is no trouble of its own',
    given: { deployment: starting, pods: [homeless(CPU)], claims: [volume({ phase: 'Pending' }, 'local')] },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 240,
  },
  {
    why: 'volume: no claim',
    given: { deployment: starting, pods: [homeless('persistentvolumeclaim "workspace-web" not found', 30)] },
    state: 'Starting',
    reason: 'VolumeClaimMissing',
    step: 'Volume',
    until: 30,
  },
  {
    why: 'volume: a claim that is being deleted, by the scheduler',
    given: { deployment: starting, pods: [homeless('persistentvolumeclaim "workspace-web" is being deleted')] },
    state: 'Failed',
    reason: 'VolumeClaimEnding',
    step: 'Volume',
  },
  {
    why: 'volume: a claim that is being deleted, by itself',
    given: {
      deployment: starting,
      pods: [homeless(CPU)],
      claims: [{ ...volume({ phase: 'Bound' }), metadata: { ...volume().metadata, deletionTimestamp: ago(5) } }],
    },
    state: 'Failed',
    reason: 'VolumeClaimEnding',
    step: 'Volume',
  },
  {
    why: 'volume: lost',
    given: {
      deployment: starting,
      pods: [homeless('persistentvolumeclaim "workspace-web" bound to non-existent persistentvolume "pv-1"')],
    },
    state: 'Failed',
    reason: 'VolumeLost',
    step: 'Volume',
  },
  {
    why: 'volume: lost, by the claim itself',
    given: { deployment: starting, pods: [UNBOUND], claims: [volume({ phase: 'Lost' }, 'fast')] },
    state: 'Failed',
    reason: 'VolumeLost',
    step: 'Volume',
  },
  {
    why: 'volume: in a zone without nodes',
    given: { deployment: starting, pods: [homeless(`${NODES}3 node(s) had volume node affinity conflict.`)] },
    state: 'Starting',
    reason: 'VolumeElsewhere',
    step: 'Volume',
    until: 240,
  },
  {
    why: 'volume: as the newer scheduler says it',
    given: { deployment: starting, pods: [homeless(`${NODES}3 node(s) didn't match PersistentVolume's node affinity.`)] },
    state: 'Starting',
    reason: 'VolumeElsewhere',
    step: 'Volume',
    until: 240,
  },
  {
    why: 'volume: more than a node can hold',
    given: { deployment: starting, pods: [homeless(`${NODES}3 node(s) exceed max volume count.`)] },
    state: 'Starting',
    reason: 'Unschedulable',
    step: 'Scheduling',
    until: 240,
  },
]
