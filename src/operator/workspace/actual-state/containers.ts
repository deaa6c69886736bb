import type { ContainerState, ContainerStatus, CoreEvent, Pod } from '../../../api/index.ts'
import { EDITOR } from '../desired/index.ts'
import { causeOf, type TroubleReason } from './causes.ts'
import { cloneReason } from './clones.ts'
import { type Evidence, timeOf } from './evidence.ts'
import { attemptOf, imageReason } from './images.ts'
import { bornAt, isDone, statusesOf } from './pods.ts'
import { eventsOn, firstOf, matchOf, type Patterns, type Symptom, timesOf } from './symptom.ts'
import { WAIT_LIMITS } from './wait-limits.ts'

type Ended = NonNullable<ContainerState['terminated']>

/** One container, and the warnings about it. */
interface SeenContainer {
  pod: Pod
  status: ContainerStatus
  isInit: boolean
  /** Warnings about it, the latest first. */
  events: CoreEvent[]
}

/** The first container in trouble, in the order in which they start. */
export function troubledContainer(pod: Pod, evidence: Evidence): Symptom | undefined {
  const { init, main } = statusesOf(pod)
  const about = eventsOn(pod, evidence)
  const seen = (isInit: boolean) => (status: ContainerStatus) => ({
    pod,
    status,
    isInit,
    events: about.filter(({ involvedObject: { fieldPath } }) => !fieldPath || fieldPath.endsWith(`{${status.name}}`)),
  })
  const inOrder = [...init.filter((status) => !isDone(status)).map(seen(true)), ...main.map(seen(false))]
  return inOrder.map(troubleOf).find((trouble) => trouble !== undefined)
}

function troubleOf(seen: SeenContainer): Symptom | undefined {
  const { state } = seen.status
  if (state?.waiting) return ofWaiting(seen, state.waiting.reason ?? '', state.waiting.message ?? '')
  if (state?.terminated) return ofRestart(seen, state.terminated)
  return state?.running && !seen.status.ready && !seen.isInit ? ofSilent(seen, state.running.startedAt) : undefined
}

const symptomOf = ({ pod, status, isInit }: SeenContainer, symptom: Omit<Symptom, 'where'>): Symptom => ({
  ...(isInit && causeOf(symptom.reason).step !== 'Image' && { step: 'InitContainer' }),
  where: `${isInit ? 'init container' : 'container'} ${status.name} of Pod ${pod.metadata.name}`,
  container: status.name,
  notBefore: bornAt(pod),
  ...symptom,
})

function ofWaiting(seen: SeenContainer, word: string, message: string): Symptom | undefined {
  const attempt = attemptOf(seen.events)
  const image = imageReason(word, `${message} ${attempt?.message ?? ''}`)
  if (image) {
    const said = [message, attempt?.message].filter(Boolean).join('; ') || `the image is ${seen.status.image ?? ''}`
    const since = attempt && firstOf(attempt)
    return symptomOf(seen, { reason: image, said: `${word}: ${said}`, tried: attempt && timesOf(attempt), since })
  }
  if (word === 'CrashLoopBackOff') return ofCrashes(seen, seen.status.lastState?.terminated)
  if (word === 'PostStartHookError') return ofPostStart(seen, message)
  const reason = START[word] && (matchOf(START[word], message) ?? plain(word))
  return reason && symptomOf(seen, { reason, said: `${word}: ${message || 'no reason is given'}` })
}

/** Words of runtimes about a command that they cannot start. */
const COMMANDS: Patterns = [
  [/executable file not found|no such file or directory/i, 'CommandNotFound'],
  [/permission denied/i, 'CommandNotExecutable'],
  [/exec format error/i, 'ImageWrongPlatform'],
  [/no command specified/i, 'CommandNotFound'],
]

const START: Record<string, Patterns> = {
  CreateContainerConfigError: [
    [/(secret|configmap) "[^"]*" not found|couldn't find key/i, 'EnvSourceMissing'],
    [/run as root|runAsNonRoot/i, 'ImageRunsAsRoot'],
  ],
  CreateContainerError: [...COMMANDS, [/deadline exceeded|is reserved for/i, 'RuntimeBusy']],
  RunContainerError: [...COMMANDS, [/deadline exceeded/i, 'RuntimeBusy']],
}

const plain = (word: string): TroubleReason | undefined =>
  (['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'] as const).find((reason) => reason === word)

function ofPostStart(seen: SeenContainer, message: string): Symptom {
  const hook = hookOf(seen)
  return symptomOf(seen, {
    reason: 'PostStartFailed',
    said: hook?.message ?? (message || 'the postStart command failed'),
    tried: startsOf(seen),
  })
}

const hookOf = ({ events }: SeenContainer): CoreEvent | undefined => events.find(({ reason }) => reason === 'FailedPostStartHook')

const probeOf = ({ events }: SeenContainer, which: RegExp): CoreEvent | undefined =>
  events.find(({ reason, message = '' }) => reason === 'Unhealthy' && which.test(message))

const startsOf = ({ status }: SeenContainer): string | undefined =>
  status.restartCount > 0 ? `started ${status.restartCount + 1} times` : undefined

/** It ended so often that the kubelet waits before it starts it again. */
function ofCrashes(seen: SeenContainer, ended: Ended | undefined): Symptom {
  if (hookOf(seen)) return ofPostStart(seen, '')
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
  if (ended.reason === 'StartError' || ended.reason === 'ContainerCannotRun') {
    return matchOf(COMMANDS, ended.message ?? '') ?? 'RunContainerError'
  }
  // An init container that cannot find its command is told by that, too.
  const byCode = CODES[ended.exitCode]
  return isInit && byCode !== 'CommandNotFound' ? initFailure(status.name, ended.message) : (byCode ?? 'CrashLoopBackOff')
}

/** Why an init container failed: what clones may say so, the class brings the editor, and the devfile has all others. */
const initFailure = (container: string, lastWords?: string): TroubleReason =>
  cloneReason(container, lastWords) ?? (container === EDITOR ? 'EditorNotBrought' : 'InitContainerFailed')

function howItEnded(ended: Ended | undefined): string {
  if (!ended) return 'it ends again and again'
  const code = `it ended with exit code ${ended.exitCode}${ended.reason ? ` (${ended.reason})` : ''}`
  return ended.message ? `${code}: ${ended.message.trim()}` : code
}

/** It has ended just now, and the kubelet starts it again at once: only a second time is a crash loop. */
function ofRestart(seen: SeenContainer, ended: Ended): Symptom | undefined {
  if (seen.isInit && ended.exitCode === 0) return undefined
  const ofInit = initFailure(seen.status.name, ended.message)
  const reason = seen.isInit ? ofInit : ended.reason === 'OOMKilled' ? 'OutOfMemory' : 'ContainerRestarting'
  return symptomOf(seen, {
    reason,
    said: howItEnded(ended),
    since: timeOf(ended.finishedAt),
    tried: startsOf(seen),
    waitLimit: WAIT_LIMITS.restarts,
  })
}

/** It runs; is it asked, and does it answer? */
function ofSilent(seen: SeenContainer, startedAt: string | undefined): Symptom | undefined {
  const probe = probeOf(seen, /^(Readiness|Startup|Liveness)/i)
  return (
    probe &&
    symptomOf(seen, { reason: 'ProbeFailing', said: probe.message ?? '', tried: timesOf(probe), since: timeOf(startedAt) })
  )
}
