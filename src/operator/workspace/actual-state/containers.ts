import type { ContainerStatus, Pod } from '../../../api/index.ts'
import type { TroubleReason } from './causes.ts'
import { hasRestarted, ofCrashes, ofEnding, ofRunningAgain, ofStartingAgain } from './crashes.ts'
import { type Evidence, timeOf } from './evidence.ts'
import { attemptOf, imageReason, pullCause } from './images.ts'
import { isDone, statusesOf } from './pods.ts'
import { ofPostStart } from './post-start.ts'
import { COMMANDS, probeOf, type SeenContainer, symptomOf } from './seen-container.ts'
import { eventsOn, firstOf, matchOf, type Patterns, type Symptom, timesOf } from './symptom.ts'

/** The first container in trouble, in the order in which they start. */
export function troubledContainer(pod: Pod, evidence: Evidence): Symptom | undefined {
  const { init, main } = statusesOf(pod)
  const seen = seenIn(pod, evidence)
  return firstTrouble([...init.filter((status) => !isDone(status)).map(seen(true)), ...main.map(seen(false))], evidence)
}

/** The first one in trouble among those that have ended in this pod: such a pod can be ready and yet fall again at once. */
export function fallingContainer(pod: Pod, evidence: Evidence): Symptom | undefined {
  return firstTrouble(statusesOf(pod).main.filter(hasRestarted).map(seenIn(pod, evidence)(false)), evidence)
}

function seenIn(pod: Pod, evidence: Evidence): (isInit: boolean) => (status: ContainerStatus) => SeenContainer {
  const about = eventsOn(pod, evidence)
  return (isInit) => (status) => ({
    pod,
    status,
    isInit,
    events: about.filter(({ involvedObject: { fieldPath } }) => !fieldPath || fieldPath.endsWith(`{${status.name}}`)),
  })
}

const firstTrouble = (inOrder: readonly SeenContainer[], evidence: Evidence): Symptom | undefined =>
  inOrder.map((each) => troubleOf(each, evidence)).find((trouble) => trouble !== undefined)

function troubleOf(seen: SeenContainer, evidence: Evidence): Symptom | undefined {
  const { state } = seen.status
  if (state?.waiting) {
    return ofWaiting(seen, state.waiting.reason ?? '', state.waiting.message ?? '') ?? ofStartingAgain(seen)
  }
  if (state?.terminated) return ofEnding(seen, state.terminated)
  if (!state?.running) return undefined
  return (
    ofRunningAgain(seen, evidence) ?? (seen.status.ready || seen.isInit ? undefined : ofSilent(seen, state.running.startedAt))
  )
}

function ofWaiting(seen: SeenContainer, word: string, message: string): Symptom | undefined {
  const attempt = attemptOf(seen.events)
  const image = imageReason(word, `${message} ${attempt?.message ?? ''}`)
  if (image) {
    const said = pullCause(word, message, attempt?.message ?? '') || `${word}: the image is ${seen.status.image ?? ''}`
    return symptomOf(seen, { reason: image, said, tried: attempt && timesOf(attempt), seenSince: attempt && firstOf(attempt) })
  }
  if (word === 'CrashLoopBackOff') return ofCrashes(seen, seen.status.lastState?.terminated)
  if (word === 'PostStartHookError') return ofPostStart(seen, message)
  const reason = START[word] && (matchOf(START[word], message) ?? plain(word))
  return reason && symptomOf(seen, { reason, said: `${word}: ${message || 'no reason is given'}` })
}

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

/** It runs; is it asked, and does it answer? */
function ofSilent(seen: SeenContainer, startedAt: string | undefined): Symptom | undefined {
  const probe = probeOf(seen, /^(Readiness|Startup|Liveness)/i)
  return (
    probe &&
    symptomOf(seen, { reason: 'ProbeFailing', said: probe.message ?? '', tried: timesOf(probe), since: timeOf(startedAt) })
  )
}
