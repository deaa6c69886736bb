import { once } from 'node:events'

/** Time as a value that is handed in: programs get `systemClock`, tests one that they step by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `run` once after `ms`; the answer calls it off. */
  after(ms: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

/** Waits `ms`; ends early, without an error, when the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(ms, wake)
    signal?.addEventListener('abort', wake, { once: true })
  })
}

/** Does the work again and again, each time `ms` after it was done last. The answer ends that, and waits for what is under way. */
export function every(clock: Clock, ms: number, work: () => void | Promise<void>): () => Promise<void> {
  let isOver = false
  let underWay: Promise<void> | undefined
  const run = () => {
    underWay = work() ?? undefined
    if (underWay) void underWay.finally(wait)
    else wait()
  }
  const wait = () => {
    if (!isOver) cancel = clock.after(ms, run)
  }
  let cancel = clock.after(ms, run)
  return async () => {
    isOver = true
    cancel()
    await underWay
  }
}

/**
 * Does the work with a signal that aborts with the given one, or with a TimeoutError after `ms` of real time. Nothing is left
 * when the work is done: the timer of an `AbortSignal.timeout` stays until its time is over, and holds half a kilobyte.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const stop = () => limit.abort(signal?.reason)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const cancel = systemClock.after(ms, () => limit.abort(new DOMException(`not done within ${ms} ms`, 'TimeoutError')))
  try {
    return await work(limit.signal)
  } finally {
    cancel()
    signal?.removeEventListener('abort', stop)
  }
}

/** RFC 3339 in UTC with whole seconds, as Kubernetes writes `metav1.Time`. */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

export const seconds = (n: number): number => n * 1000
export const minutes = (n: number): number => n * 60_000
export const hours = (n: number): number => n * 3_600_000

/** Resolves with the promise, or when the signal aborts. */
export function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', done, { once: true })
    void promise.then(done)
  })
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
