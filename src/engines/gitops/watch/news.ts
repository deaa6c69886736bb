import { type Clock, seconds } from '../../../std/index.ts'
import type { Line } from '../state/book.ts'

/** A change between two looks is `loud` if it must be acted on, and `quiet` if the same is only said in another way. */
export function newsIn(before: Line | undefined, line: Line): 'loud' | 'quiet' | undefined {
  if (before?.word !== line.word) return 'loud'
  if (before.word !== 'there' || line.word !== 'there') return undefined
  if (before.uid !== line.uid || before.drift.join() !== line.drift.join()) return 'loud'
  if (before.health.status !== line.health.status) return 'loud'
  return before.health.message === line.health.message ? undefined : 'quiet'
}

/** A rollout says something else with every pod: that may be told a little later, all at once. */
const MURMUR = seconds(1)

/** `wait`: milliseconds for which those whom it rings for have to wait, because they were looked at so often. */
export function createBell(clock: Clock, ring: () => void, wait: () => number) {
  let stop: (() => void) | undefined
  const ringIn = (ms: number) => {
    stop ??= clock.after(ms, () => {
      stop = undefined
      ring()
    })
  }
  return {
    tell(news: 'loud' | 'quiet' | undefined) {
      if (!news) return
      const ms = Math.max(wait(), news === 'quiet' ? MURMUR : 0)
      if (ms > 0) ringIn(ms)
      else ring()
    },
    silence: () => stop?.(),
  }
}
