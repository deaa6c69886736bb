import type { Deployment, Pod } from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import { refused, unseen } from './admission.ts'
import { fallingContainer, troubledContainer } from './containers.ts'
import { steadyTimes } from './crashes.ts'
import { DEADLINE, isUnseen, reasonOf, statementOf, stateOfDeployment, wantedOf } from './deployment.ts'
import { type ActualState, type Evidence, timeOf } from './evidence.ts'
import { endedPod, endlessPod, LATE, nodeGone } from './nodes.ts'
import { bornAt, holdsOf, isScheduled, isStarted, type Sorted, sorted } from './pods.ts'
import { unprepared } from './preparing.ts'
import { unscheduled } from './scheduling.ts'
import { type Step, stagesDone, stepOf } from './steps.ts'
import type { Symptom } from './symptom.ts'
import { durationInWords, judged, type Trouble } from './trouble.ts'
import { GRACE, WAIT_LIMITS } from './wait-limits.ts'

/** The state of a workspace, and why it is so. */
export interface Assessment {
  state: ActualState
  step?: Step | undefined
  trouble?: Trouble | undefined
  /** How many of the STAGES are done. */
  stages: number
  /** When the answer may be another though nothing changes, milliseconds. */
  recheckAt?: number | undefined
  /** Its volumes and the warnings about it would say more: a start that takes longer than most. */
  needsLook: boolean
}

/** A start that is quicker needs no closer look, and most are. */
const LOOK_AFTER = seconds(3)

/** The state of a workspace. First match wins: its end, its Deployment, and what keeps that from its wish. */
export function assess(evidence: Evidence): Assessment {
  const { termination, deployment, now } = evidence
  if (termination) return { state: termination, stages: 0, needsLook: false }
  if (!deployment) return { state: 'Unknown', stages: 0, needsLook: false }

  const pods = sorted(evidence.pods ?? [])
  const deploymentState = stateOfDeploymentAndPods(deployment, pods)
  const symptom = symptomOf(deployment, pods, evidence, deploymentState)
  const trouble = symptom && judged(symptom, evidence, deploymentState === 'Failed')
  const state = trouble?.fatal ? 'Failed' : trouble && deploymentState === 'Running' ? 'Starting' : deploymentState
  const slow = pods.current && wantedOf(deployment) > 0 && state !== 'Running' ? bornAt(pods.current) + LOOK_AFTER : undefined
  return {
    state,
    trouble,
    step: stepOf(state, pods, trouble, evidence),
    stages: stagesDone(state, deployment, pods),
    recheckAt: recheckAt(evidence, deployment, pods, trouble, slow),
    needsLook: slow !== undefined && now >= slow,
  }
}

/** By the rules of GitLab's workspaces, where they know enough. */
function stateOfDeploymentAndPods(deployment: Deployment, { current, ending }: Sorted): ActualState {
  if (deployment.spec && isUnseen(deployment)) return wantedOf(deployment) > 0 ? 'Starting' : 'Stopping'
  const state = stateOfDeployment(deployment)
  // The Deployment does not count pods that are ending; until they are gone they hold the volume.
  return state === 'Stopped' && (current || ending.length > 0) ? 'Stopping' : state
}

function symptomOf(deployment: Deployment, pods: Sorted, evidence: Evidence, deploymentState: ActualState): Symptom | undefined {
  const { now } = evidence
  if (deploymentState === 'Stopped') return undefined
  // The Deployment hears of it later that a container has ended, and takes each new start of it for a good one.
  if (deploymentState === 'Running') return pods.current && fallingContainer(pods.current, evidence)
  if (wantedOf(deployment) === 0) {
    return endlessPod(pods.ending, now) ?? (deploymentState === 'Failed' ? neverEnded(deployment) : undefined)
  }
  if (isUnseen(deployment)) return unseen(deployment, evidence)
  const found = pods.current
    ? (ofPod(pods.current, evidence) ?? (isStarted(pods.current) ? undefined : endedPod(pods.ended, now)))
    : (refused(deployment) ?? endlessPod(pods.ending, now) ?? endedPod(pods.ended, now))
  return found ?? stalled(deployment, deploymentState, now)
}

function ofPod(pod: Pod, evidence: Evidence): Symptom | undefined {
  const gone = nodeGone(pod, evidence)
  if (gone) return gone
  if (!isScheduled(pod)) return unscheduled(pod, evidence)
  const found = troubledContainer(pod, evidence)
  // Warnings about mounts and networks are over as soon as these are there.
  return found ?? (isStarted(pod) || holdsOf(pod, 'PodReadyToStartContainers') ? undefined : unprepared(pod, evidence))
}

/** Nothing is wrong that anybody could name, and yet nothing comes of it. */
function stalled(deployment: Deployment, deploymentState: ActualState, now: number): Symptom | undefined {
  const where = `Deployment ${deployment.metadata.name}`
  if (reasonOf(deployment, 'Progressing') === 'DeploymentPaused') {
    return { reason: 'DeploymentPaused', where, said: 'spec.paused is true' }
  }
  if (deploymentState === 'Failed') {
    const said = statementOf(deployment, 'Progressing')?.message ?? 'its progress deadline is exceeded'
    const limit = seconds(deployment.spec?.progressDeadlineSeconds ?? WAIT_LIMITS.start / seconds(1))
    return { reason: 'StartTimeout', where, said, tried: `waited ${durationInWords(limit)}` }
  }
  const down = downSince(deployment)
  if (down === undefined || now < down + WAIT_LIMITS.start) return undefined
  return {
    reason: 'StartTimeout',
    where,
    said: 'it was ready once, and is not any more',
    since: down,
    tried: `waited ${durationInWords(WAIT_LIMITS.start)}`,
  }
}

/** Since when a workspace that was up is down. The Deployment's own deadline is only for what was never up. */
function downSince(deployment: Deployment): number | undefined {
  const available = statementOf(deployment, 'Available')
  const wasUp = reasonOf(deployment, 'Progressing') === 'NewReplicaSetAvailable'
  return wasUp && available?.status === 'False' ? timeOf(available.lastTransitionTime) : undefined
}

const neverEnded = (deployment: Deployment): Symptom => ({
  reason: 'PodNotEnding',
  where: `Deployment ${deployment.metadata.name}`,
  said: statementOf(deployment, 'Progressing')?.message ?? `${DEADLINE} while it was being stopped`,
})

/** The next time at which a wait is over. */
function recheckAt(
  evidence: Evidence,
  deployment: Deployment,
  { current, ending }: Sorted,
  trouble: Trouble | undefined,
  slow: number | undefined,
): number | undefined {
  const { now } = evidence
  const unseenSince = deployment.status?.observedGeneration === undefined ? timeOf(deployment.metadata.creationTimestamp) : now
  const down = slow === undefined ? undefined : downSince(deployment)
  const times = [
    trouble?.fatal ? undefined : trouble?.until,
    slow,
    slow !== undefined && current ? bornAt(current) + GRACE : undefined,
    ...(current && wantedOf(deployment) > 0 ? steadyTimes(current, evidence) : []),
    down === undefined ? undefined : down + WAIT_LIMITS.start,
    isUnseen(deployment) ? (unseenSince ?? now) + GRACE : undefined,
    ...ending.map(({ metadata }) => (timeOf(metadata.deletionTimestamp) ?? now) + LATE + 1),
  ].flatMap((time) => (time !== undefined && time > now ? [time] : []))
  return times.length > 0 ? Math.min(...times) : undefined
}
