import { type Clock, LRUCache } from '../std/index.ts'

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
  /** What was taken is back: it does not count. */
  giveBack(key: string): void
}

export function createBuckets({ burst, perSecond }: Rate, clock: Clock): Buckets {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: MOST })
  const take = (key: string): number => {
    const now = clock.now()
    const known = buckets.get(key)
    const tokens = known ? Math.min(burst, known.tokens + ((now - known.at) / 1000) * perSecond) : burst
    const left = tokens < 1 ? tokens : tokens - 1
    buckets.set(key, { tokens: left, at: now })
    return tokens < 1 ? Math.ceil(((1 - tokens) / perSecond) * 1000) : 0
  }
  return {
    take,
    giveBack(key) {
      const known = buckets.peek(key)
      if (known) known.tokens = Math.min(burst, known.tokens + 1)
    },
  }
}
