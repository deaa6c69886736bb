import { type Clock, pause, seconds } from '../../../std/index.ts'

/** What is to be opened, one after the other, when nothing more urgent goes on. */
export interface Line<T> {
  add(entry: T, after?: number): void
  /** Until the answer is called, something is being written. */
  hold(): () => void
}

/** Nothing written for this long, milliseconds: then the next one is opened. */
const CALM = seconds(0.2)
/** Who waited for this long has its turn also while something is written, but only so many a second: each costs as much as a write. */
const LONGEST_WAIT = seconds(60)
const LATE_PER_SECOND = 16
/** So many are opened at once. */
const OPENING = 8

export function createLine<T>(clock: Clock, open: (entry: T) => Promise<void>): Line<T> {
  const waiting: { entry: T; since: number }[] = []
  let writing = 0
  let wrote = Number.NEGATIVE_INFINITY
  let workers = 0

  /** Milliseconds, at least. */
  const untilCalm = () => (writing > 0 ? CALM : wrote + CALM - clock.now())
  const calmOrLate = async (since: number): Promise<void> => {
    for (let wait = untilCalm(); wait > 0 && clock.now() - since < LONGEST_WAIT; wait = untilCalm()) await pause(clock, wait)
  }
  const work = async (): Promise<void> => {
    workers++
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await calmOrLate(next.since)
      await open(next.entry)
      if (untilCalm() > 0) await pause(clock, seconds(OPENING / LATE_PER_SECOND))
    }
    workers--
  }
  return {
    add(entry, after = 0) {
      clock.after(after, () => {
        waiting.push({ entry, since: clock.now() })
        if (workers < OPENING) void work()
      })
    },
    hold() {
      writing++
      return () => {
        writing--
        wrote = clock.now()
      }
    },
  }
}
