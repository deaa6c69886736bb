import type { PersistentVolumeClaim, Pod } from '../../../api/index.ts'
import { type Evidence, timeOf } from './evidence.ts'
import { bornAt, podCondition } from './pods.ts'
import { eventsOn, firstOf, matchOf, type Patterns, type Symptom, timesOf } from './symptom.ts'
import { GRACE } from './wait-limits.ts'

/** Words of the scheduler; those that more nodes would help against come last, since one message may name several. */
const UNSCHEDULED: Patterns = [
  [/persistentvolumeclaim "[^"]*" not found/i, 'VolumeClaimMissing'],
  [/persistentvolumeclaim "[^"]*" is being deleted/i, 'VolumeClaimEnding'],
  [/bound to non-existent persistentvolume|persistentvolumeclaim "[^"]*" lost/i, 'VolumeLost'],
  [/unbound immediate PersistentVolumeClaims|provisioning failed|waiting for external-provisioner/i, 'VolumeNotBound'],
  [/no nodes available to schedule|^0\/0 nodes/i, 'NoNodes'],
  [/Insufficient |Too many pods|exceed max volume count/i, 'Unschedulable'],
  [/volume node affinity conflict|PersistentVolume's node affinity/i, 'VolumeElsewhere'],
  [/untolerated taint|node affinity|node selector|unschedulable/i, 'NoNodeMatches'],
]

/** Looked at before, the volumes of a pod say more than the scheduler does of them. */
export function unscheduled(pod: Pod, evidence: Evidence): Symptom | undefined {
  const where = `Pod ${pod.metadata.name}`
  const scheduled = podCondition(pod, 'PodScheduled')
  const since = timeOf(scheduled?.lastTransitionTime) ?? bornAt(pod)
  if (scheduled?.status !== 'False') {
    if (evidence.now - since < GRACE) return undefined
    return { reason: 'SchedulerSilent', where, said: 'it has no node, and nobody says why', since }
  }
  const said = scheduled.message ?? 'no node takes the pod'
  if (scheduled.reason === 'SchedulingGated') return { reason: 'SchedulingGated', where, said, since }
  const mounted = (evidence.claims ?? []).filter(({ metadata }) => mountsOf(pod).includes(metadata.name))
  const found = mounted.map((claim) => troubleOfClaim(claim, evidence)).find((trouble) => trouble !== undefined)
  return found ?? { reason: matchOf(UNSCHEDULED, said) ?? 'Unschedulable', where, said, since }
}

const mountsOf = ({ spec }: Pod): string[] =>
  spec?.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []) ?? []

function troubleOfClaim(claim: PersistentVolumeClaim, evidence: Evidence): Symptom | undefined {
  const where = `PersistentVolumeClaim ${claim.metadata.name}`
  if (claim.metadata.deletionTimestamp !== undefined)
    return { reason: 'VolumeClaimEnding', where, said: 'it has a deletionTimestamp' }
  if (claim.status?.phase === 'Lost') {
    return { reason: 'VolumeLost', where, said: `its PersistentVolume ${claim.spec?.volumeName ?? ''} is gone` }
  }
  if (claim.status?.phase === 'Bound') return undefined
  const failed = eventsOn(claim, evidence).find(({ reason }) => reason === 'ProvisioningFailed')
  if (failed) {
    const said = failed.message ?? 'no reason is given'
    const missing = /storageclass(\.storage\.k8s\.io)? "[^"]*" not found/i.test(said)
    const reason = missing ? 'StorageClassMissing' : 'VolumeProvisioningFailed'
    return { reason, where, said, since: firstOf(failed), tried: timesOf(failed) }
  }
  if (claim.spec?.storageClassName || claim.spec?.volumeName) return undefined
  const since = timeOf(claim.metadata.creationTimestamp)
  return { reason: 'NoStorageClass', where, said: 'spec.storageClassName is empty and nothing provisions it', since }
}
