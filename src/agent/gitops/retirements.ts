import { hours, pause } from '../../std/index.ts'
import type { Board } from '../ports.ts'
import type { Registered } from './register.ts'
import { type Limits, retire } from './removal.ts'
import type { Term } from './shop.ts'
import type { Worker } from './worker.ts'

/** What is under way for projects that left the configuration. */
export interface Retirements {
  /** Unless it is under way, or was done. */
  begin(left: Registered, limits: Limits, term: Term, signal: AbortSignal): void
  /** Ends and forgets some of them: they may begin again. */
  recall(which: (left: Registered) => boolean): Promise<void>
  /** Nothing more is done to the project of this number: it is in the configuration, by another path. */
  claim(number: bigint): Promise<void>
}

interface Retirement {
  left: Registered
  ending: AbortController
  done: Promise<void>
}

export function createRetirements(workers: ReadonlyMap<string, Worker>, board: Board): Retirements {
  /** By the number of the project. */
  const begun = new Map<bigint, Retirement>()
  const end = async ({ left, ending, done }: Retirement) => {
    ending.abort()
    await done
    begun.delete(left.number)
  }
  /** A project may have got another path: then one of the workers has its number, and nothing of it is deleted. */
  const unlessWanted = async (left: Registered, limits: Limits, term: Term, signal: AbortSignal) => {
    for (const { known } of workers.values())
      if (!(known.aborted || signal.aborted)) await pause(term.clock, hours(24), AbortSignal.any([signal, known]))
    const isWanted = [...workers.values()].some((worker) => worker.number() === left.number)
    if (isWanted) board.forget(left.id)
    else await retire(left, limits, term, signal)
  }
  return {
    begin(left, limits, term, signal) {
      if (begun.has(left.number)) return
      const ending = new AbortController()
      const done = unlessWanted(left, limits, term, AbortSignal.any([signal, ending.signal]))
      begun.set(left.number, { left, ending, done })
    },
    async recall(which) {
      await Promise.all([...begun.values()].filter(({ left }) => which(left)).map(end))
    },
    async claim(number) {
      const retirement = begun.get(number)
      if (!retirement) return
      await end(retirement)
      if (!workers.has(retirement.left.id)) board.forget(retirement.left.id)
    },
  }
}
