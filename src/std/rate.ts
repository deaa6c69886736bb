import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

export interface Rate {
  /** How many may come at once after a quiet time. */
  burst: number
  /** And how many each second after that. */
  perSecond: number
}

/** Milliseconds to wait before the next may come; 0 lets this one in. */
export type Limiter = (key: string) => number

/** Nobody makes it remember more than so many keys: the one that was quiet longest is forgotten first. */
const MOST = 10_000

/** A bucket of tokens for each key. */
export const createLimiter = (rate: Rate, clock: Clock): Limiter => createBuckets(rate, clock).take

export interface Buckets {
  take: Limiter
  /** As `take`, but takes nothing. */
  wait: Limiter
  /** Takes so many, though there be less: then it is longer until the next. */
  spend(key: string, amount: number): void
  /** Gives back the token that was taken last: it does not count. */
  giveBack(key: string): void
}

export function createBuckets({ burst, perSecond }: Rate, clock: Clock): Buckets {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: MOST })
  const tokensOf = (key: string): number => {
    const known = buckets.get(key)
    if (!known) return burst
    // A clock that was set back says nothing of how long ago it was.
    const past = Math.max(clock.now() - known.at, 0)
    return Math.min(burst, known.tokens + (past / 1000) * perSecond)
  }
  const waitWith = (tokens: number): number => (tokens < 1 ? Math.ceil(((1 - tokens) / perSecond) * 1000) : 0)
  const spend = (key: string, amount: number) => void buckets.set(key, { tokens: tokensOf(key) - amount, at: clock.now() })
  return {
    take(key) {
      const tokens = tokensOf(key)
      spend(key, tokens < 1 ? 0 : 1)
      return waitWith(tokens)
    },
    wait: (key) => waitWith(tokensOf(key)),
    spend,
    giveBack(key) {
      const known = buckets.peek(key)
      if (known) known.tokens = Math.min(burst, known.tokens + 1)
    },
  }
}
