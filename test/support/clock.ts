import type { Clock } from '../../src/std/index.ts'

export interface SteppedClock extends Clock {
  /** Moves time on; what falls due runs on the way, in order, with everything it awaits and starts. */
  step(ms: number): Promise<void>
  /** Only what `now` says: timers measure time by themselves. */
  setBack(ms: number): void
  /** How many timers wait. */
  waiting(): number
}

interface Timer {
  due: number
  run: () => void
}

/** A clock that stands still until it is stepped. It starts at a round date, so that messages with times read well. */
export function steppedClock(start = Date.UTC(2030, 0, 1)): SteppedClock {
  let now = start
  let setBackBy = 0
  const timers = new Set<Timer>()
  const nextDue = (until: number) => [...timers].filter((timer) => timer.due <= until).sort((a, b) => a.due - b.due)[0]

  return {
    now: () => now - setBackBy,
    after(ms, run) {
      const timer = { due: now + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async step(ms) {
      const until = now + ms
      await settle()
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        now = Math.max(now, timer.due)
        timers.delete(timer)
        timer.run()
        await settle()
      }
      now = until
    },
    setBack(ms) {
      setBackBy += ms
    },
    waiting: () => timers.size,
  }
}

/** Lets promises that are ready go on. Real I/O is not waited for: use `eventually` for what comes over the wire. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}
