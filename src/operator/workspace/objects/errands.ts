import { type Clock, LRUCache, pause, seconds } from '../../../std/index.ts'

/**
 * Work in targets runs beside the reconciles: a target that does not answer must not keep the workspaces of others waiting.
 * Each workspace has one errand at a time, and only the outcome of the one for its newest plan is ever told: an error of an older
 * one never overwrites what came after it.
 */
export interface Errands<T> {
  /**
   * The outcome, thrown or returned; nothing while it takes longer than anybody waits. The workspace is woken when it is over. What
   * was thrown last for the same plan is thrown again meanwhile: it stands until something better is known.
   */
  run(errand: Errand<T>): Promise<T | undefined>
  isUnderWay(uid: string): boolean
  /** Forgets the errand of the workspace of this UID. */
  delete(uid: string): void
}

export interface Errand<T> {
  /** UID of the workspace. */
  uid: string
  /** Names the plan: the outcome for another plan is not told. */
  plan: string
  /** The target: one that was slow is not waited for until it answered quickly again, whatever it answered. */
  target: string
  work: () => Promise<T>
  /** Called when it is over and nobody waits any more. */
  over: () => void
}

interface UnderWay<T> {
  plan: string
  isAwaited: boolean
  outcome: PromiseSettledResult<T> | undefined
  /** How the errand before it failed, for the same plan. */
  refused: PromiseRejectedResult | undefined
  isTold: boolean
  done: Promise<void>
}

/** Most are quicker by far. */
const PATIENCE = seconds(2)
/** Tenants name the targets, and as many as they like: of so many it is known that they were slow. */
const MOST_SLOW = 1000

export function createErrands<T>(clock: Clock): Errands<T> {
  const errands = new Map<string, UnderWay<T>>()
  const slow = new LRUCache<string, true>({ max: MOST_SLOW })

  const begin = ({ uid, plan, target, work, over }: Errand<T>): UnderWay<T> => {
    const before = errands.get(uid)
    const refused = before?.plan === plan && before.outcome?.status === 'rejected' ? before.outcome : undefined
    const began = clock.now()
    const errand: UnderWay<T> = { plan, isAwaited: true, outcome: undefined, refused, isTold: false, done: Promise.resolve() }
    errand.done = Promise.allSettled([work()]).then(([outcome]) => {
      if (clock.now() - began < PATIENCE) slow.delete(target)
      errand.outcome = outcome
      if (!errand.isAwaited) over()
    })
    errands.set(uid, errand)
    return errand
  }

  const run = async (wanted: Errand<T>): Promise<T | undefined> => {
    const before = errands.get(wanted.uid)
    // An outcome for an older plan is not told any more.
    const isUsable = before && !before.isTold && (before.outcome === undefined || before.plan === wanted.plan)
    const errand = isUsable ? before : begin(wanted)
    errand.isAwaited = true
    await waited(clock, errand.done, slow.get(wanted.target) ? 0 : PATIENCE)
    errand.isAwaited = false
    const { outcome, plan } = errand
    if (outcome === undefined) {
      slow.set(wanted.target, true)
      if (errand.refused && plan === wanted.plan) throw errand.refused.reason
      return undefined
    }
    errand.isTold = true
    if (plan !== wanted.plan) return run(wanted)
    if (outcome.status === 'rejected') throw outcome.reason
    errands.delete(wanted.uid)
    return outcome.value
  }

  return {
    run,
    isUnderWay: (uid) => errands.has(uid) && errands.get(uid)?.outcome === undefined,
    delete: (uid) => void errands.delete(uid),
  }
}

async function waited(clock: Clock, done: Promise<void>, ms: number): Promise<void> {
  const ending = new AbortController()
  await Promise.race([done, pause(clock, ms, ending.signal)])
  ending.abort()
}
