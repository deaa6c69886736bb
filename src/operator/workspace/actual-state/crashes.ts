import type { ContainerStatus, Pod } from '../../../api/index.ts'
import { minutes, seconds } from '../../../std/index.ts'
import type { TroubleReason } from './causes.ts'
import { cloneReason } from './clones.ts'
import { type Evidence, timeOf } from './evidence.ts'
import { OURS } from './own-containers.ts'
import { statusesOf } from './pods.ts'
import { hookOf, ofPostStart, postStartWords } from './post-start.ts'
import { COMMANDS, type Ended, probeOf, type SeenContainer, startsOf, symptomOf } from './seen-container.ts'
import { matchOf, type Symptom } from './symptom.ts'
import { WAIT_LIMITS } from './wait-limits.ts'

/** One that was started again counts as running after so long, unless the class says otherwise: a crash loop runs for a moment again and again. */
const STEADY_AFTER = seconds(10)
/** The kubelet, too, begins to count anew with a container that stayed up for so long. */
const STAYED_UP = minutes(10)

/** How often it has ended in this pod, as far as that is known. */
function endingsOf(status: ContainerStatus): number {
  const before = Math.max(status.restartCount, hasRestarted(status) ? 1 : 0)
  return status.state?.terminated ? before + 1 : before
}

/** Once is no loop, nor is an end after a long time. */
function isLoop(status: ContainerStatus, ended: Ended | undefined): boolean {
  const [from, to] = [timeOf(ended?.startedAt), timeOf(ended?.finishedAt)]
  const hasStayedUp = from !== undefined && to !== undefined && to - from >= STAYED_UP
  return endingsOf(status) > 1 && !hasStayedUp
}

/** It has ended, or did so before it was started again. */
export function ofEnding(seen: SeenContainer, ended: Ended | undefined): Symptom | undefined {
  if (seen.isInit && ended?.exitCode === 0) return undefined
  if (postStartWords(ended)) return ofPostStart(seen)
  return isLoop(seen.status, ended) ? ofCrashes(seen, ended) : ofFirstEnding(seen, ended)
}

/**
 * It runs again. While the kubelet waits between two starts, all that it shows of a crash loop is how the container ended; so a run
 * that has only begun is no sign that the loop is over.
 */
export function ofRunningAgain(seen: SeenContainer, evidence: Evidence): Symptom | undefined {
  const { now } = evidence
  const { status, isInit } = seen
  const ended = status.lastState?.terminated
  // Whether its commands fail again is known when it is ready.
  const isLooping = isLoop(status, ended) || postStartWords(ended) !== undefined
  if (isInit) return isLooping ? ofEnding(seen, ended) : undefined
  const isSteady = (steadyAt(status, evidence) ?? now) <= now && (status.ready || !isLooping)
  return isSteady ? undefined : ofEnding(seen, ended)
}

/** The kubelet has made it anew, and it does not run yet. */
export function ofStartingAgain(seen: SeenContainer): Symptom | undefined {
  const { state, lastState } = seen.status
  const isBeingMade = BEING_MADE.includes(state?.waiting?.reason ?? '')
  return isBeingMade && isLoop(seen.status, lastState?.terminated) ? ofEnding(seen, lastState?.terminated) : undefined
}

const BEING_MADE = ['', 'ContainerCreating']

/** When a container that was started again counts as running; undefined of one that was not, or does not run. */
function steadyAt(status: ContainerStatus, { steadyAfter = STEADY_AFTER }: Evidence): number | undefined {
  const startedAt = timeOf(status.state?.running?.startedAt)
  return startedAt !== undefined && hasRestarted(status) ? startedAt + steadyAfter : undefined
}

/** The times at which containers of the pod count as running. */
export const steadyTimes = (pod: Pod, evidence: Evidence): number[] =>
  statusesOf(pod).main.flatMap((status) => steadyAt(status, evidence) ?? [])

export const hasRestarted = ({ lastState, restartCount }: ContainerStatus): boolean =>
  restartCount > 0 || lastState?.terminated !== undefined

/** It ended so often that the kubelet waits before it starts it again. */
export function ofCrashes(seen: SeenContainer, ended: Ended | undefined): Symptom {
  if (postStartWords(ended) || hookOf(seen)) return ofPostStart(seen)
  const probe = probeOf(seen, /^(Liveness|Startup)/i)
  if (probe && ended?.reason !== 'OOMKilled') {
    return symptomOf(seen, { reason: 'LivenessFailed', said: probe.message ?? '', tried: startsOf(seen) })
  }
  return symptomOf(seen, { reason: crashReason(seen, ended), said: howItEnded(ended), tried: startsOf(seen) })
}

const CODES: Record<number, TroubleReason> = {
  0: 'ContainerCompleted',
  126: 'CommandNotExecutable',
  127: 'CommandNotFound',
  137: 'ContainerKilled',
}

function crashReason({ isInit, status }: SeenContainer, ended: Ended | undefined): TroubleReason {
  if (!ended) return isInit ? initFailure(status.name) : 'CrashLoopBackOff'
  if (ended.reason === 'OOMKilled') return 'OutOfMemory'
  if (isInit && OURS[status.name]) return initFailure(status.name, ended.message)
  if (ended.reason === 'StartError' || ended.reason === 'ContainerCannotRun') {
    return matchOf(COMMANDS, ended.message ?? '') ?? 'RunContainerError'
  }
  // An init container that cannot find its command is told by that, too.
  const byCode = CODES[ended.exitCode]
  return isInit && byCode !== 'CommandNotFound' ? initFailure(status.name, ended.message) : (byCode ?? 'CrashLoopBackOff')
}

/** Why an init container failed: what clones may say so, some are Berth's own, and the devfile has all others. */
const initFailure = (container: string, lastWords?: string): TroubleReason =>
  cloneReason(container, lastWords) ?? OURS[container]?.reason ?? 'InitContainerFailed'

function howItEnded(ended: Ended | undefined): string {
  if (!ended) return 'it ends again and again'
  const code = `it ended with exit code ${ended.exitCode}${ended.reason ? ` (${ended.reason})` : ''}`
  return ended.message ? `${code}: ${ended.message.trim()}` : code
}

/** The kubelet starts it again at once: only a second time is a crash loop. */
function ofFirstEnding(seen: SeenContainer, ended: Ended | undefined): Symptom {
  const ofInit = initFailure(seen.status.name, ended?.message)
  const reason = seen.isInit ? ofInit : ended?.reason === 'OOMKilled' ? 'OutOfMemory' : 'ContainerRestarting'
  return symptomOf(seen, {
    reason,
    said: ended ? howItEnded(ended) : 'nobody knows how it ended',
    since: timeOf(ended?.finishedAt),
    tried: startsOf(seen),
    waitLimit: WAIT_LIMITS.restarts,
  })
}
