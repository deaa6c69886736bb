import { type Clock, Failure, isFailure, pause, seconds } from '../../../std/index.ts'
import { bare } from '../objects/change-set.ts'

/** Waiting on request, altogether, until a sync leaves the rest to its next run. */
const PAUSES = seconds(30)
const LONGEST_PAUSE = seconds(10)
const TRIES = 5
/** Time that requests of one scope spent without an answer, altogether. With 16 at once that is one round of timeouts. */
const LOSSES = seconds(120)

/**
 * Sends the requests of one sync, again when the server asks to come back later, and no more of those to which no answer comes. `scope`
 * says what goes wrong together: a kind in a namespace.
 */
export function createRetryAfter(clock: Clock, signal?: AbortSignal) {
  let until = 0
  let paused = 0
  const lost = new Map<string, number>()
  const hopeless = new Map<string, Failure>()

  const note = (scope: string, failure: Failure, ms: number) => {
    const sum = (lost.get(scope) ?? 0) + ms
    lost.set(scope, sum)
    if (sum > LOSSES) hopeless.set(scope, failure)
  }
  /** A request that is told to come back later speaks for all: the server is busy, not the object. */
  const postpone = (wait: number): boolean => {
    const end = clock.now() + wait
    const more = Math.max(0, end - Math.max(until, clock.now()))
    if (paused + more > PAUSES) return false
    paused += more
    until = Math.max(until, end)
    return true
  }
  const turn = async () => {
    while (until > clock.now() && !signal?.aborted) await pause(clock, until - clock.now(), signal)
    signal?.throwIfAborted()
  }

  return async <T>(scope: string, request: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      await turn()
      const known = hopeless.get(scope)
      if (known) throw notTried(known)
      const began = clock.now()
      try {
        return await request()
      } catch (thrown) {
        if (isFailure(thrown, 'timeout', 'unavailable')) note(scope, thrown, clock.now() - began)
        const wait = waitAskedFor(thrown)
        if (wait === undefined || tries === TRIES || !postpone(wait)) throw thrown
      }
    }
  }
}

function waitAskedFor(thrown: unknown): number | undefined {
  if (!isFailure(thrown, 'unavailable') || thrown.retryAfter === undefined) return undefined
  return thrown.retryAfter > LONGEST_PAUSE ? undefined : Math.max(thrown.retryAfter, 100)
}

const notTried = (failure: Failure): Failure =>
  new Failure(failure.code, `was not tried, for others like it got no answer: ${bare(failure)}`, {
    reason: failure.reason ?? 'NoAnswer',
    cause: failure,
  })
