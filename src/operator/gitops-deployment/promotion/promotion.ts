import { isDeepStrictEqual } from 'node:util'
import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  keyOf,
  type Ref,
  refOf,
  requesterNameOf,
} from '../../../api/index.ts'
import { again, type Next, type StatusDraft, type Waker } from '../../../engines/controller/index.ts'
import { type Clock, isRecord, timestamp } from '../../../std/index.ts'
import type { SyncServices } from '../services/services.ts'
import { askedOf } from '../status/requests.ts'
import { kept, statusWhile } from '../status/status.ts'
import { choiceOf, type Promotion, type PromotionChoice } from './choice.ts'

type ChoiceServices = Pick<SyncServices, 'caches' | 'context' | 'findOpening' | 'lastPasses'>

/** For the status of one that has failed: what its promotion waits for, as it is now. */
export function promotionWhileFailing(deployment: GitOpsDeployment, services: ChoiceServices): { promotion?: Promotion } {
  if (!deployment.spec.source.follow) return {}
  try {
    const { promotion, isTaken } = chosenFor(deployment, services)
    return isTaken ? {} : { promotion }
  } catch {
    // That is what it has failed with.
    const { next: _, ...before } = deployment.status?.promotion ?? {}
    return { promotion: before }
  }
}

/** The commit that a deployment with `spec.source.follow` is to have; throws what is wrong with the spec. */
export function chosenFor(
  deployment: GitOpsDeployment,
  { caches, context: { clock }, findOpening, lastPasses }: ChoiceServices,
): PromotionChoice {
  const isAsked = askedOf(deployment) !== undefined
  const tried = lastPasses.get(keyOf(deployment.metadata))?.commitId
  const rules = { now: clock.now(), isAsked, tried, findOpening }
  return choiceOf(deployment, caches.deployments, rules)
}

/** Goes on with the commit that is chosen, or with none; the status says which one that is, and what is not taken. */
export async function withPromotion(
  deployment: GitOpsDeployment,
  run: GitOpsDeploymentSyncRun | undefined,
  services: SyncServices,
  goOn: (revision: string | undefined) => Promise<Next>,
): Promise<Next> {
  const choice = chosenFor(deployment, services)
  if (choice.isTaken && !run) return take(deployment, choice, services)
  const { next: _, ...before } = deployment.status?.promotion ?? {}
  const told = choice.isTaken ? before : choice.promotion
  tellMistake(deployment, told, services)
  try {
    const next = await goOn((run && choice.offered) ?? choice.revision)
    const promoted = run && next.status && promotedBy(run, next.status, deployment, services.context.clock.now())
    const promotion = promoted ?? told
    if (promoted) tellPromoted(deployment, promoted, services)
    const status = next.status ? { ...next.status, promotion } : unsaid(deployment, promotion)
    if (next.word === 'again' || choice.recheck === undefined) return { ...next, status }
    return { ...next, status, recheck: Math.min(next.recheck ?? choice.recheck, choice.recheck) }
  } catch (thrown) {
    // What only a user can mend is looked at seldom, and here another commit comes with time alone.
    if (choice.recheck !== undefined) services.wakeIn(refOf(deployment), choice.recheck)
    throw thrown
  }
}

const MISTAKES = ['PromotionInvalid', 'DependencyCycle']

/** What is in effect stays, and Ready with it: told once, when it begins. */
function tellMistake(
  { status, ...deployment }: GitOpsDeployment,
  { next }: Promotion,
  { context }: Pick<SyncServices, 'context'>,
): void {
  if (next && MISTAKES.includes(next.reason) && status?.promotion?.next?.reason !== next.reason)
    context.events.record(deployment, { type: 'Warning', reason: next.reason, message: next.message })
}

/** Gives what it says. */
function tellPromoted(
  deployment: GitOpsDeployment,
  { revision = '', by, run }: Promotion,
  { context: { events } }: Pick<SyncServices, 'context'>,
): string {
  const how =
    run === undefined ? `from ${deployment.spec.source.follow?.deployment}` : `by ${by ?? 'somebody'}, who asked with ${run}`
  const message = `commit ${revision.slice(0, 12)} is taken ${how}`
  events.record(deployment, { type: 'Normal', reason: 'Promoted', message })
  return message
}

/** Written down before it is applied: whatever becomes of the other one in between, the way leads on from there. */
function take(deployment: GitOpsDeployment, { promotion }: PromotionChoice, services: Pick<SyncServices, 'context'>): Next {
  const message = tellPromoted(deployment, promotion, services)
  const status = unsaid(deployment, promotion) ?? {
    ...statusWhile(deployment, 'Promoted', message, promotion.revision),
    promotion,
  }
  return again({ after: 0, why: 'what is taken is written down before it is applied', status })
}

/** Of a spec that was not looked at yet nothing is said that was said of the one before. */
function unsaid(deployment: GitOpsDeployment, promotion: Promotion): StatusDraft | undefined {
  const { metadata, status } = deployment
  if (status?.observedGeneration !== metadata.generation || isDeepStrictEqual(status?.promotion ?? {}, promotion))
    return undefined
  return { ...kept(deployment), promotion }
}

/** What a person has had applied stays from then on, an older commit too. */
function promotedBy(
  run: GitOpsDeploymentSyncRun,
  { lastSyncRun: done }: StatusDraft,
  { status }: GitOpsDeployment,
  now: number,
): Promotion | undefined {
  if (!isRecord(done) || done.uid !== run.metadata.uid || done.result !== 'Succeeded') return undefined
  const { revision } = done
  const before = status?.promotion ?? {}
  if (typeof revision !== 'string' || revision === before.revision) return undefined
  const last = before.revision ?? status?.history?.[0]?.revision
  const past = new Set([...(last === undefined ? [] : [last]), ...(before.left ?? [])])
  const left = [...past].filter((one) => one !== revision).slice(0, MOST_LEFT)
  const by = requesterNameOf(run)?.slice(0, MOST_OF_NAME)
  return { revision, at: timestamp(now), ...(by && { by }), run: run.metadata.name, ...(left.length > 0 && { left }) }
}

/** The schema takes so many characters, and so many commits. */
const MOST_OF_NAME = 1024
const MOST_LEFT = 10

/** Wakes each deployment at one time, the last that was asked for. */
export function createWakeIn(
  { wake, signal }: Pick<Waker, 'wake' | 'signal'>,
  clock: Clock,
): (ref: Ref, milliseconds: number) => void {
  const due = new Map<string, () => void>()
  const cancelAll = () => {
    for (const cancel of due.values()) cancel()
  }
  signal.addEventListener('abort', cancelAll, { once: true })
  return (ref, milliseconds) => {
    const key = keyOf(ref)
    due.get(key)?.()
    const ring = () => {
      due.delete(key)
      wake(ref)
    }
    due.set(key, clock.after(milliseconds, ring))
  }
}
