import { keyOf, type Ref } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'
import type { Polls } from '../ports.ts'

/** Pushes that came too fast one after the other, to be told of together. */
export interface Echoes {
  /** In so many milliseconds, unless one is due already: that one tells of this push too. */
  add(project: Ref, pushed: string | undefined, wait: number): void
}

/** One for each project that exists at most. Two refs are told of as if anything might have changed. */
export function createEchoes(clock: Clock, polls: Pick<Polls, 'poke'>): Echoes {
  const due = new Map<string, { pushed: string | undefined }>()
  return {
    add(project, pushed, wait) {
      const key = keyOf(project)
      const known = due.get(key)
      if (known) {
        if (known.pushed !== pushed) known.pushed = undefined
        return
      }
      const echo = { pushed }
      due.set(key, echo)
      clock.after(wait, () => {
        due.delete(key)
        polls.poke(project, echo.pushed)
      })
    },
  }
}
