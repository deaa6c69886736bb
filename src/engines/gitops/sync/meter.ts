import type { Metrics } from '../../../adapters/http/index.ts'
import type { Clock, Span } from '../../../std/index.ts'
import { type Change, type Entry, entriesOf } from '../objects/change-set.ts'

/**
 * source - until the files of a revision were there. render, compare, apply, prune - the steps of a sync. health - from the end of
 * the apply until all was in effect and healthy.
 */
export const PHASES = ['source', 'render', 'compare', 'apply', 'prune', 'health'] as const
export type Phase = (typeof PHASES)[number]

/** Measures syncs. */
export interface SyncMeter {
  took(phase: Phase, milliseconds: number): void
  /** So many objects ended like this. */
  did(change: Change, count: number): void
  /** So many objects had drifted and were set back. */
  repaired(count: number): void
}

export const noMeter: SyncMeter = { took: () => undefined, did: () => undefined, repaired: () => undefined }

/** Measures syncs under the same names in every program. */
export function syncMeter(metrics: Metrics): SyncMeter {
  const phases = metrics.histogram({
    name: 'berth_gitops_phase_seconds',
    help: 'Time of the steps from a revision to its health',
    labels: ['phase'],
  })
  const objects = metrics.counter({
    name: 'berth_gitops_objects_total',
    help: 'Objects of commits by what was done with them',
    labels: ['outcome'],
  })
  const repairs = metrics.counter({
    name: 'berth_gitops_drift_repairs_total',
    help: 'Objects that had drifted and were set back',
  })
  return {
    took: (phase, milliseconds) => phases.observe(milliseconds / 1000, { phase }),
    did: (outcome, many) => objects.add({ outcome }, many),
    repaired: (many) => repairs.add({}, many),
  }
}

/** Does a step of a sync and tells how long it took; a part of it may have begun before. */
export async function timed<T>(
  phase: Phase,
  { clock, meter }: { clock: Clock; meter: SyncMeter },
  step: () => Promise<T>,
  began = clock.now(),
): Promise<T> {
  try {
    return await step()
  } finally {
    meter.took(phase, clock.now() - began)
  }
}

/** Not what stayed as it was: that would be all objects of all syncs, all the time. */
const TOLD: Change[] = ['created', 'configured', 'pruned', 'terminating', 'waiting', 'withheld', 'skipped', 'failed']

/** How many ended how; what did not happen is left out. */
export const countsOf = (entries: readonly Entry[]): [Change, number][] =>
  TOLD.map((change): [Change, number] => [change, entriesOf(entries, change).length]).filter(([, many]) => many > 0)

export function count(entries: readonly Entry[], meter: SyncMeter): void {
  for (const [change, many] of countsOf(entries)) meter.did(change, many)
}

/** The same meter, which also keeps the phases of one sync as the steps of its span. */
export function keepingSteps(meter: SyncMeter, clock: Clock): { meter: SyncMeter; steps: Span[] } {
  const steps: Span[] = []
  const took = (phase: Phase, milliseconds: number) => {
    const ended = clock.now()
    steps.push({ name: phase, began: ended - milliseconds, ended })
    meter.took(phase, milliseconds)
  }
  return { meter: { ...meter, took }, steps }
}
