/** Has `notify` called at each change; the answer ends that. */
export type Listen = (notify: () => void) => () => void

/** Resolves when one of them has rung, or nobody waits any more. */
export function newsOf(sources: readonly Listen[], signal: AbortSignal): { promise: Promise<void>; close: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const notify = () => resolve()
  const forgets = sources.map((listen) => listen(notify))
  signal.addEventListener('abort', notify, { once: true })
  if (signal.aborted) notify()
  return {
    promise,
    close() {
      for (const forget of forgets) forget()
      signal.removeEventListener('abort', notify)
    },
  }
}
