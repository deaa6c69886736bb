import { createTally, unlessAborted } from '../../../std/index.ts'

export type Allotments = ReturnType<typeof createAllotments>

interface Kept {
  namespace: string
  amount: number
}

/** Shares of memory, by namespace: each has `most` of what is counted, so that none fills the program. */
export function createAllotments(most: number) {
  const kept = new Map<string, Kept>()
  const sums = createTally()
  const waiting = new Map<string, PromiseWithResolvers<void>>()
  const add = (namespace: string, amount: number) => {
    sums.add(namespace, amount)
    if (amount >= 0) return
    waiting.get(namespace)?.resolve()
    waiting.delete(namespace)
  }
  const keep = (key: string, namespace: string, amount: number): boolean => {
    const had = kept.get(key)?.amount ?? 0
    const others = sums.of(namespace) - had
    if (others > 0 && others + amount > most) return false
    kept.set(key, { namespace, amount })
    add(namespace, amount - had)
    return true
  }
  return {
    most,
    /**
     * From now on so much is kept under the key, instead of what was. false, and all is as before, where the namespace would have more
     * than it may; what is more than that by itself is kept if it is the only one.
     */
    keep,
    release(key: string): void {
      const had = kept.get(key)
      if (!had) return
      kept.delete(key)
      add(had.namespace, -had.amount)
    },
    /** Resolves when so much is kept under the key, or the signal aborts. */
    async keepLater(key: string, namespace: string, amount: number, signal: AbortSignal): Promise<void> {
      while (!signal.aborted && !keep(key, namespace, amount)) {
        const room = waiting.get(namespace) ?? Promise.withResolvers<void>()
        waiting.set(namespace, room)
        await unlessAborted(room.promise, signal)
      }
    },
  }
}
