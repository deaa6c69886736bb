import { createHash } from 'node:crypto'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Secret } from '../../std/index.ts'
import { createLimiter, type Rate } from '../rate.ts'
import type { Identify } from './people.ts'

export interface PaceOptions {
  identify: Identify
  /** Requests of one person in a second; for a moment ten times as many. */
  perSecond: number
  /** Works for all tenants at once, and is not limited. */
  operator: Ref
  /** Told of each that has to wait, and by which limit. */
  slowed: (limit: 'person' | 'unknown') => void
  clock: Clock
}

/** Lets a visitor go on, or fails with `TooManyRequests`. */
export type Pace = (token: Secret<string>, peer: string) => Promise<void>

/**
 * Tokens that nobody has shown here before: each of them has to be asked for at the API server. By address, so that whoever makes
 * tokens up is in the way of his neighbours only; and who has been let in once is not asked to wait with them.
 */
const STRANGERS: Rate = { burst: 500, perSecond: 50 }
const BURST = 10
const MOST_KNOWN = 10_000

/** How fast people may ask, whichever agents they ask for. */
export function createPace({ identify, perSecond, operator, slowed, clock }: PaceOptions): Pace {
  const ofPerson = createLimiter({ burst: perSecond * BURST, perSecond }, clock)
  const ofAddress = createLimiter(STRANGERS, clock)
  const proved = rememberSome(MOST_KNOWN)
  const take = (wait: number, limit: 'person' | 'unknown'): void => {
    if (wait === 0) return
    slowed(limit)
    throw tooMany(wait)
  }
  return async (token, peer) => {
    const digest = createHash('sha256').update(token.reveal()).digest('base64')
    if (!proved.has(digest)) take(ofAddress(peer), 'unknown')
    try {
      const { name, account } = await identify(token)
      proved.add(digest)
      if (!account || keyOf(account) !== keyOf(operator)) take(ofPerson(name), 'person')
    } catch (thrown) {
      if (isFailure(thrown, 'unauthorized')) proved.delete(digest)
      throw thrown
    }
  }
}

/** The one that was added longest ago is forgotten first. */
function rememberSome(most: number) {
  const keys = new Set<string>()
  return {
    has: (key: string) => keys.has(key),
    add(key: string) {
      keys.delete(key)
      keys.add(key)
      const [oldest] = keys
      if (keys.size > most && oldest !== undefined) keys.delete(oldest)
    },
    delete: (key: string) => void keys.delete(key),
  }
}

const tooMany = (retryAfter: number) =>
  new Failure('unavailable', 'too many requests at once', { reason: 'TooManyRequests', retryAfter, remedy: 'Ask again later' })
