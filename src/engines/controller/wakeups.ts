import { keyOf, type Ref } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/**
 * A source of wake-ups beside the API: streams, watches in other clusters, timers. It is there before the controller that it
 * belongs to, so that everything that wakes objects is given it when it is made.
 */
export interface Wakeups {
  /** Has the object reconciled. What comes before the loop begins is kept until then. */
  wake(ref: Ref): void
  /** Aborts when the loop ends: whatever was opened to wake objects is closed then. */
  readonly signal: AbortSignal
  /** Called once, by the loop: a second call is an error, for what the first one opened is closed for good. */
  begin(enqueue: (key: string) => void, signal: AbortSignal): void
}

/** `begun` is called when the caches are complete and the loop begins. */
export function createWakeups(begun?: (wakeups: Wakeups) => void): Wakeups {
  const early = new Set<string>()
  const ending = new AbortController()
  let hasBegun = false
  let enqueue = (key: string): void => void early.add(key)
  const wakeups: Wakeups = {
    wake: (ref) => enqueue(keyOf(ref)),
    signal: ending.signal,
    begin(enqueueNow, signal) {
      if (hasBegun) throw new Failure('internal', 'wake-ups were begun twice')
      hasBegun = true
      enqueue = enqueueNow
      early.forEach(enqueue)
      early.clear()
      if (signal.aborted) ending.abort()
      else signal.addEventListener('abort', () => ending.abort(), { once: true })
      begun?.(wakeups)
    },
  }
  return wakeups
}

/** For those that wake objects, and end with the loop. */
export type Waker = Pick<Wakeups, 'wake' | 'signal'>
