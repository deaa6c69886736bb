import { type Failure, failureReason, type Log, LRUCache, logFieldsOf, type Span, type Tracer } from '../../../std/index.ts'
import type { Change, Entry } from '../objects/change-set.ts'
import type { Owner } from '../objects/place.ts'
import { countsOf } from './meter.ts'

export interface EndedSync {
  commitId: string
  owner: Owner
  began: number
  ended: number
  steps: readonly Span[]
  changes: readonly Entry[]
  failure: Failure | undefined
}

export type TellSync = (ended: EndedSync) => void

/** A pass that did one of these is told; one that only finds again what is undone is told once. */
const DONE: readonly Change[] = ['created', 'configured', 'pruned', 'terminating']
const MOST_OWNERS = 10_000

/** Says what a sync came to in the log and in the trace of the commit. Of a failure only its reason: its message may quote the values of Secrets. */
export function createTellSync({ log, tracer }: { log: Log; tracer: Tracer }): TellSync {
  /** By owner. */
  const lastTold = new LRUCache<string, string>({ max: MOST_OWNERS })
  return ({ commitId, owner, began, ended, steps, changes, failure }) => {
    const counts = countsOf(changes)
    const hasFailed = counts.some(([change]) => change === 'failed')
    const error = failure ? failureReason(failure) : hasFailed ? 'ApplyFailed' : undefined
    const hasDone = counts.some(([change]) => DONE.includes(change))
    const outcome = JSON.stringify([commitId, error, counts])
    if (!hasDone && ((counts.length === 0 && !error) || lastTold.get(owner.id) === outcome)) return
    lastTold.set(owner.id, outcome)
    const about = { owner: owner.title, ...logFieldsOf(commitId), ms: ended - began, ...Object.fromEntries(counts) }
    if (error) log.info('a commit was not synced', { ...about, reason: error })
    else log.info('a commit was synced', about)
    const named = counts.map(([change, many]) => [`berth.objects.${change}`, many] as const)
    const attributes = { 'berth.owner': owner.title, ...Object.fromEntries(named) }
    tracer.record(commitId, { name: 'sync', began, ended, steps, attributes, error })
  }
}
