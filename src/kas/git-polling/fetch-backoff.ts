import { type Backoff, type Clock, Failure, isFailure, minutes, seconds, waitOf } from '../../std/index.ts'

const WAIT: Backoff = { base: seconds(2), max: minutes(5) }

export type FetchBackoff = ReturnType<typeof createFetchBackoff>

/** A commit that cannot be fetched is followed by hundreds of streams, and each asks again: all but one a while get the old answer. */
export function createFetchBackoff(clock: Clock) {
  let last: { commit: string; failure: Failure; failures: number; until: number } | undefined
  return {
    async try<T>(commit: string, work: () => Promise<T>): Promise<T> {
      const known = last?.commit === commit ? last : undefined
      if (known && clock.now() < known.until) throw known.failure
      try {
        const done = await work()
        last = undefined
        return done
      } catch (thrown) {
        const failure = Failure.from(thrown)
        const failures = (known?.failures ?? 0) + 1
        if (!isFailure(failure, 'cancelled'))
          last = { commit, failure, failures, until: clock.now() + waitOf(WAIT, failures - 1) }
        throw failure
      }
    },
    /** The next try is made at once. */
    forget() {
      last = undefined
    },
  }
}
