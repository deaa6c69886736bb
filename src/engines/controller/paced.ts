import { keyOf, type Ref } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'

/** Wakes at once the first time, and then not sooner than after so many milliseconds, however often it is asked to. */
export function paced(
  wake: (ref: Ref) => void,
  pace: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): (ref: Ref) => void {
  const waiting = new Set<string>()
  const last = new Map<string, number>()
  return (ref) => {
    const key = keyOf(ref)
    if (waiting.has(key) || signal.aborted) return
    waiting.add(key)
    const again = (last.get(key) ?? Number.NEGATIVE_INFINITY) + pace
    clock.after(Math.max(again - clock.now(), 0), () => {
      waiting.delete(key)
      for (const [old, at] of last) if (at <= clock.now() - pace) last.delete(old)
      last.set(key, clock.now())
      if (!signal.aborted) wake(ref)
    })
  }
}
