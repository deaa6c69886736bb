import type { Cache } from '../../adapters/kube/index.ts'
import { type KubeObject, keyOf, type Ref } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'
import type { Wakeups } from './wakeups.ts'

interface Changes<T> {
  /** Whom a change concerns, by the object before and after it. Nothing is compared of what concerns none. */
  wakes: (object: T) => Ref[]
  isSame: (now: T, before: T) => boolean
  /** They are woken no sooner than after so many milliseconds again. */
  pace: number
}

/** Wakes by the changes in a cache until the signal aborts: for objects that are thousands to one, and change one by one. */
export function wakeByChanges<T extends KubeObject>(
  cache: Cache<T>,
  { wakes, isSame, pace }: Changes<T>,
  { wake, signal, clock }: Pick<Wakeups, 'wake' | 'signal'> & { clock: Clock },
): void {
  const slowly = paced(wake, pace, { clock, signal })
  const stop = cache.onChange((now, before) => {
    const refs = [now, before].flatMap((one) => (one ? wakes(one) : []))
    if (refs.length === 0 || (now && before && isSame(now, before))) return
    for (const ref of refs) slowly(ref)
  })
  signal.addEventListener('abort', stop, { once: true })
}

/** Wakes at once the first time, and then not sooner than after so many milliseconds, however often it is asked to. */
function paced(
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
