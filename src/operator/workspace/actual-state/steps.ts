import type { Deployment } from '../../../api/index.ts'
import { awaitsTurns } from '../desired/index.ts'
import { isUnseen, wantedOf } from './deployment.ts'
import { type ActualState, type Evidence, type StepName, timeOf } from './evidence.ts'
import { isDone, isInitialized, isPrepared, isScheduled, isStarted, type Sorted, statusesOf } from './pods.ts'
import type { Trouble } from './trouble.ts'

/** A step of a start or stop, and since when it is there, milliseconds. */
export interface Step {
  name: StepName
  container?: string | undefined
  since: number
}

/** Stages of a pod's start; each is a condition, in this order. */
export const STAGES = ['PodAdmitted', 'PodScheduled', 'PodPrepared', 'PodInitialized', 'ContainersStarted'] as const
export type PodStage = (typeof STAGES)[number]

/** How many of the stages are done. */
export function stagesDone(state: ActualState, deployment: Deployment | undefined, { current }: Sorted): number {
  if (state === 'Running') return STAGES.length
  if (!current || wantedOf(deployment) === 0) return 0
  const checks = [isScheduled, isPrepared, isInitialized, isStarted]
  const open = checks.findIndex((isSo) => !isSo(current))
  return 1 + (open < 0 ? checks.length : open)
}

export function stepOf(state: ActualState, pods: Sorted, trouble: Trouble | undefined, evidence: Evidence): Step | undefined {
  const isOnItsWay = state === 'Starting' || state === 'Stopping' || trouble !== undefined
  if (!isOnItsWay || !evidence.deployment) return undefined
  const { name, container } = trouble ? { name: trouble.step, container: trouble.container } : placeOf(evidence.deployment, pods)
  const { step } = evidence.before ?? {}
  const isSame = step?.name === name && step.container === container
  const since = (isSame ? timeOf(step.since) : undefined) ?? evidence.now
  return { name, ...(container !== undefined && { container }), since }
}

function placeOf(deployment: Deployment, { current }: Sorted): Omit<Step, 'since'> {
  if (wantedOf(deployment) === 0) return { name: 'Stop' }
  if (!current || isUnseen(deployment)) return { name: 'Admission' }
  if (!isScheduled(current)) return { name: 'Scheduling' }
  // The kubelet tells volumes and network in one; nearly always it is the volume that takes time.
  if (!isPrepared(current)) return { name: 'Volume' }
  const { init, main } = statusesOf(current)
  if (!isInitialized(current)) return { name: 'InitContainer', container: init.find((status) => !isDone(status))?.name }
  // From the pull of its image to the end of its postStart a container only says that it is being created.
  const next = main.find(({ state }) => state?.running === undefined)
  if (next) return { name: 'Image', container: next.name }
  const awaiting = current.spec?.containers.find(({ startupProbe }) => awaitsTurns(startupProbe))
  const isAwaited = main.some(({ name, started }) => name === awaiting?.name && !started)
  return { name: isAwaited ? 'PostStart' : 'Probes' }
}
