import type { Cache, Reach } from '../../../adapters/kube/index.ts'
import {
  type CoreSecret,
  conditionOf,
  type DeploymentTarget,
  isLeaving,
  keyOf,
  provisionedByOf,
  type Ref,
  refFromKey,
  refOf,
  SANDBOX_PROVISIONER,
} from '../../../api/index.ts'
import type { ControllerContext, Waker } from '../../../engines/controller/index.ts'
import { waitAfterFailure } from '../../../engines/targets/index.ts'
import { createWorkQueue, hours, minutes, pause, seconds, type WorkQueue } from '../../../std/index.ts'
import { askVersion } from './ask.ts'
import type { CredentialsAssessment } from './credentials.ts'
import {
  type Answer,
  isSame,
  OWN_CLUSTER,
  type Question,
  questionOf,
  REACHABLE,
  type ReachabilityFinding,
  toldFinding,
  unasked,
  whileAsking,
} from './finding.ts'

/** How many strangers' clusters are asked at once, of one namespace, and how long each may think. */
const AT_ONCE = 32
const OF_NAMESPACE = 8
const PATIENCE = seconds(8)
/** An answer that comes within it needs no status write of its own. Longer would hold up the rest of the reconcile. */
const MOMENT = 100
/** One that comes later waits so long for a write that is made anyway, such as that of a binding. */
const LINGER = seconds(10)
/** A dead target is asked again after as long as it has been dead, between these two. */
const SOONEST = minutes(1)
const LATEST = hours(1)

interface ReachabilityOptions {
  context: ControllerContext
  targets: Cache<DeploymentTarget>
  secretOf: (target: DeploymentTarget) => CoreSecret | undefined
  /** Where targets may lead; everywhere without it. */
  reach?: Reach | undefined
  /** Told whose answer came late. */
  wakeups: Waker
}

/** A question that is being asked, or whose answer is not in the status yet. */
interface Inquiry {
  question: Question
  answer?: Answer
  /** Somebody waits for the answer, so nobody needs to be woken for it. */
  isAwaited: boolean
  done: PromiseWithResolvers<void>
}

/** Whether the APIs behind targets answer: asked on change only, and again while they don't. Nothing waits for an answer but a moment. */
export interface Reachability {
  of(target: DeploymentTarget, secret: CoreSecret | undefined, credentials: CredentialsAssessment): Promise<ReachabilityFinding>
  forget(ref: Ref): void
}

export function createReachability({ context, targets, secretOf, reach, wakeups }: ReachabilityOptions): Reachability {
  const { clock, kube } = context
  /** One a target, by its key: one into an older question is forgotten when a newer one begins. */
  const inquiries = new Map<string, Inquiry>()
  /** Dead targets whose next turn is set. */
  const scheduled = new Set<string>()
  const { wake, signal } = wakeups

  const queue: WorkQueue = createWorkQueue({
    clock,
    concurrency: AT_ONCE,
    each: OF_NAMESPACE,
    groupOf: (key) => refFromKey(key).namespace ?? '',
    async work(key) {
      scheduled.delete(key)
      const target = targets.get(refFromKey(key))
      const secret = target && secretOf(target)
      if (!target || !secret || isLeaving(target) || signal.aborted) return
      const question = questionOf(target, secret)
      const inquiry = inquiryInto(question, inquiries.get(key)) ?? newInquiry(question, false)
      inquiries.set(key, inquiry)
      inquiry.answer = await askVersion(target, secret, { reach, patience: PATIENCE, signal })
      if (signal.aborted) return
      inquiry.done.resolve()
      schedule(key, inquiry.answer, targets.get(refFromKey(key)))
      if (isTold(targets.get(refFromKey(key)), inquiry)) inquiries.delete(key)
      else if (!inquiry.isAwaited) void pause(clock, LINGER, signal).then(() => wake(refFromKey(key)))
    },
  })
  signal.addEventListener('abort', () => void queue.stop(), { once: true })

  const schedule = (key: string, { status }: Pick<Answer, 'status'>, target: DeploymentTarget | undefined) => {
    if (status !== 'False') return
    scheduled.add(key)
    const told = conditionOf(target?.status?.conditions, REACHABLE)
    queue.addAfter(key, waitAfterFailure(told, clock.now(), { soonest: SOONEST, latest: LATEST }))
  }

  const answerTo = async (key: string, question: Question): Promise<Answer | undefined> => {
    const inquiry = newInquiry(question, true)
    inquiries.set(key, inquiry)
    queue.add(key)
    await Promise.race([inquiry.done.promise, pause(clock, MOMENT, signal)])
    inquiry.isAwaited = false
    return inquiry.answer
  }

  return {
    async of(target, secret, credentials) {
      const key = keyOf(refOf(target))
      if (!secret || !credentials.usable) return unasked(credentials)
      // Made by the operator itself, with credentials that it keeps: to ask its own API server would tell nothing new.
      if (provisionedByOf(target) === SANDBOX_PROVISIONER && target.spec.kubernetesCredentials.apiURL === kube.server)
        return OWN_CLUSTER
      const asked = questionOf(target, secret)
      const told = toldFinding(target)
      const inquiry = inquiryInto(asked, inquiries.get(key))
      if (told && isSame(told.asked, asked) && (!inquiry?.answer || isTold(target, inquiry))) {
        if (inquiry?.answer) inquiries.delete(key)
        if (!scheduled.has(key)) schedule(key, told.answer, target)
        return told
      }
      // Who comes second does not wait a second time.
      const answer = inquiry ? inquiry.answer : await answerTo(key, asked)
      return answer ? { answer, asked } : whileAsking(target)
    },
    forget(ref) {
      inquiries.delete(keyOf(ref))
    },
  }
}

const newInquiry = (question: Question, isAwaited: boolean): Inquiry => ({
  question,
  isAwaited,
  done: Promise.withResolvers(),
})

const inquiryInto = (question: Question, known: Inquiry | undefined): Inquiry | undefined =>
  isSame(known?.question, question) ? known : undefined

/** The status says it already. */
function isTold(target: DeploymentTarget | undefined, { question, answer }: Inquiry): boolean {
  const told = target && toldFinding(target)
  return isSame(told?.asked, question) && told?.answer.status === answer?.status && told?.answer.message === answer?.message
}
