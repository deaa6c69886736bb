import type { Pod } from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import type { TroubleReason } from './causes.ts'
import { type Evidence, timeOf } from './evidence.ts'
import { bornAt, podCondition, statusesOf } from './pods.ts'
import { eventsOn, type Symptom } from './symptom.ts'
import { WAIT_LIMITS } from './wait-limits.ts'

/**
 * Finds that the node of a pod is silent. The control plane then only takes back that the pod is ready; everything else of its
 * status is what the kubelet said last: every container ready, and the pod not.
 */
export function nodeGone(pod: Pod, evidence: Evidence): Symptom | undefined {
  const { status, spec } = pod
  if (spec?.nodeName === undefined) return undefined
  const ready = podCondition(pod, 'Ready')
  const { main } = statusesOf(pod)
  const takenBack =
    ready?.status !== 'True' &&
    ready !== undefined &&
    main.length > 0 &&
    main.every((each) => each.ready) &&
    !spec.readinessGates?.length
  const told = eventsOn(pod, evidence).find(({ reason }) => reason === 'NodeNotReady')
  const lost = status?.reason === 'NodeLost' || status?.phase === 'Unknown'
  const removed = podCondition(pod, 'DisruptionTarget')?.reason === 'DeletionByTaintManager'
  if (!takenBack && !lost && !removed && !(told && ready?.status !== 'True')) return undefined
  return {
    reason: 'NodeGone',
    where: placeOf(pod),
    said: status?.message ?? told?.message ?? `node ${spec.nodeName} does not report any more`,
    since: timeOf(ready?.lastTransitionTime),
    notBefore: bornAt(pod),
  }
}

const placeOf = ({ metadata, spec }: Pod): string => `Pod ${metadata.name}${spec?.nodeName ? ` on node ${spec.nodeName}` : ''}`

const SHUTDOWN = ['NodeShutdown', 'Shutdown', 'Terminated']
const PREEMPTED = ['Preempting', 'Preempted', 'PreemptionByScheduler', 'PreemptionByKubeScheduler']

/** Why the pod before ended, as long as that is what keeps the workspace from running. */
export function endedPod([last]: readonly Pod[], now: number): Symptom | undefined {
  if (!last || now - endOf(last) > WAIT_LIMITS.nodes) return undefined
  const { reason: word = '', message } = last.status ?? {}
  const disruption = podCondition(last, 'DisruptionTarget')
  return {
    reason: reasonOfEnd(last, word, message ?? '', disruption?.reason ?? ''),
    where: placeOf(last),
    said: [word, message ?? disruption?.message].filter(Boolean).join(': ') || `it ended ${last.status?.phase ?? ''}`,
  }
}

function reasonOfEnd(pod: Pod, word: string, message: string, disruption: string): TroubleReason {
  if (word === 'Evicted')
    return /exceeds the (total )?limit|exceeded its local|EmptyDir/i.test(message) ? 'StorageLimitExceeded' : 'Evicted'
  if (SHUTDOWN.includes(word) || disruption === 'TerminationByKubelet') return 'NodeShutdown'
  if (PREEMPTED.includes(word) || PREEMPTED.includes(disruption)) return 'Preempted'
  // A kubelet that does not take a pod says a word and starts nothing.
  return word !== '' && statusesOf(pod).main.length === 0 ? 'PodRejected' : 'PodEnded'
}

function endOf(pod: Pod): number {
  const { init, main } = statusesOf(pod)
  const times = [
    bornAt(pod),
    timeOf(pod.status?.startTime) ?? 0,
    ...(pod.status?.conditions ?? []).map((condition) => timeOf(condition.lastTransitionTime) ?? 0),
    ...[...init, ...main].map(({ state }) => timeOf(state?.terminated?.finishedAt) ?? 0),
  ]
  return Math.max(...times)
}

/** The kubelet ends a pod within its grace period, which `deletionTimestamp` includes; so long after that somebody must look. */
export const LATE = seconds(30)

/** A pod that was asked to end and does not. Until it has, nothing else may hold its volume. */
export function endlessPod(ending: readonly Pod[], now: number): Symptom | undefined {
  const stuck = ending.find(({ metadata }) => now - (timeOf(metadata.deletionTimestamp) ?? now) > LATE)
  if (!stuck) return undefined
  const { finalizers = [] } = stuck.metadata
  return {
    reason: 'PodNotEnding',
    where: placeOf(stuck),
    said:
      finalizers.length > 0 ? `finalizers hold it: ${finalizers.join(', ')}` : 'its grace period is over and it is still there',
    since: timeOf(stuck.metadata.deletionTimestamp),
  }
}
