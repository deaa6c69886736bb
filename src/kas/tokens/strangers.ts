import { type Clock, createLimiter, Failure, isFailure, LRUCache, networkOf, type Rate, type Secret } from '../../std/index.ts'
import { digestOf } from './token.ts'

/** Asks who has this token, unless too many unknown ones came from the peer's network: then it fails with `TooManyRequests`. */
export type Prove = <T>(token: Secret<string>, peer: string, ask: () => Promise<T>) => Promise<T>

/**
 * Tokens that nobody has shown here before: each of them has to be asked for at the API server. By network, so that whoever makes
 * tokens up is in the way of his neighbours only; and who has been let in once is not asked to wait with them.
 */
const STRANGERS: Rate = { burst: 500, perSecond: 50 }
const MOST_KNOWN = 10_000

/** `slowed` is told of each that has to wait. */
export function createProve(slowed: () => void, clock: Clock): Prove {
  const ofNetwork = createLimiter(STRANGERS, clock)
  const proved = new LRUCache<string, true>({ max: MOST_KNOWN })
  return async (token, peer, ask) => {
    const digest = digestOf(token)
    const wait = proved.has(digest) ? 0 : ofNetwork(networkOf(peer))
    if (wait > 0) {
      slowed()
      throw tooManyRequests(wait)
    }
    try {
      const answer = await ask()
      proved.set(digest, true)
      return answer
    } catch (thrown) {
      if (isFailure(thrown, 'unauthorized', 'forbidden')) proved.delete(digest)
      throw thrown
    }
  }
}

export const tooManyRequests = (retryAfter: number) =>
  new Failure('unavailable', 'too many requests at once', { reason: 'TooManyRequests', retryAfter, remedy: 'Ask again later' })
