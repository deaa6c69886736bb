import { type Clock, pause, seconds } from '../../../std/index.ts'

/** Nothing written for this long, milliseconds: then the next one is opened. */
const CALM = seconds(0.2)
/** A watch that waited for this long is opened also while something is written, but only so many a second: each costs as much as a write. */
const LONGEST_WAIT = seconds(60)
const LATE_PER_SECOND = 16
/** So many are opened at once. */
const OPENING = 8

/** Watches are opened one after the other, when nothing more urgent goes on. */
export function createOpeningQueue<T>(clock: Clock, open: (entry: T) => Promise<void>) {
  const waiting: { entry: T; since: number }[] = []
  const closing = new AbortController()
  let writing = 0
  let wrote = Number.NEGATIVE_INFINITY
  let workers = 0

  const rest = (ms: number) => pause(clock, ms, closing.signal)
  /** Milliseconds, at least. */
  const untilCalm = () => {
    const past = clock.now() - wrote
    // A clock that was set back says nothing of how long ago it was.
    return writing > 0 ? CALM : past < 0 ? 0 : CALM - past
  }
  const isDue = (since: number) => closing.signal.aborted || clock.now() - since >= LONGEST_WAIT
  const calmOrLate = async (since: number): Promise<void> => {
    for (let wait = untilCalm(); wait > 0 && !isDue(since); wait = untilCalm()) await rest(wait)
  }
  const work = async (): Promise<void> => {
    workers++
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await calmOrLate(next.since)
      if (closing.signal.aborted) break
      await open(next.entry)
      if (untilCalm() > 0) await rest(seconds(OPENING / LATE_PER_SECOND))
    }
    workers--
  }
  return {
    add(entry: T, after = 0): void {
      clock.after(after, () => {
        if (closing.signal.aborted) return
        waiting.push({ entry, since: clock.now() })
        if (workers < OPENING) void work()
      })
    },
    /** Until the function that it returns is called, something is being written. */
    beginWrite(): () => void {
      writing++
      return () => {
        writing--
        wrote = clock.now()
      }
    },
    /** Entries that wait are dropped, and so are those that were to be added later. */
    close(): void {
      closing.abort()
      waiting.length = 0
    },
  }
}
