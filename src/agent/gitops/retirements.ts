import { hours, pause } from '../../std/index.ts'
import type { Reports } from '../ports/reports.ts'
import type { RegisteredProject } from './register.ts'
import { type InventoryLimits, retire } from './removal.ts'
import type { LeadershipTerm } from './services.ts'
import type { ProjectWorker } from './worker.ts'

interface Retirement {
  left: RegisteredProject
  ending: AbortController
  done: Promise<void>
}

/** Ends the projects that left the configuration. */
export function createRetirements(workers: ReadonlyMap<string, ProjectWorker>, reports: Reports) {
  /** By the number of the project. */
  const begun = new Map<bigint, Retirement>()
  const end = async ({ left, ending, done }: Retirement) => {
    ending.abort()
    await done
    begun.delete(left.number)
  }
  /** A project may have got another path: then one of the workers has its number, and nothing of it is deleted. */
  const retireUnlessWanted = async (
    left: RegisteredProject,
    limits: InventoryLimits,
    term: LeadershipTerm,
    signal: AbortSignal,
  ) => {
    for (const { known } of workers.values())
      if (!(known.aborted || signal.aborted)) await pause(term.clock, hours(24), AbortSignal.any([signal, known]))
    const isWanted = [...workers.values()].some((worker) => worker.number() === left.number)
    if (isWanted) reports.forget(left.id)
    else await retire(left, limits, term, signal)
  }
  return {
    /** Does nothing for a project whose retirement is under way, or was done. */
    begin(left: RegisteredProject, limits: InventoryLimits, term: LeadershipTerm, signal: AbortSignal): void {
      if (begun.has(left.number)) return
      const ending = new AbortController()
      const done = retireUnlessWanted(left, limits, term, AbortSignal.any([signal, ending.signal]))
      begun.set(left.number, { left, ending, done })
    },
    /** Ends and forgets some of them: they may begin again. */
    async recall(which: (left: RegisteredProject) => boolean): Promise<void> {
      await Promise.all([...begun.values()].filter(({ left }) => which(left)).map(end))
    },
    /** Nothing more is done to the project of this number: it is in the configuration, by another path. */
    async claim(number: bigint): Promise<void> {
      const retirement = begun.get(number)
      if (!retirement) return
      await end(retirement)
      if (!workers.has(retirement.left.id)) reports.forget(retirement.left.id)
    },
  }
}
