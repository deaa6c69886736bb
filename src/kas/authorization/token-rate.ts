import { type Clock, createLimiter, Failure } from '../../std/index.ts'

/**
 * Counts a call with the token of this digest; throws when it is one too many. Only of tokens that are known: strangers must not
 * fill the memory with theirs.
 */
export type TokenRate = (sha256: string, holder: string) => void

/** `perMinute` calls and streams with each token. */
export function createTokenRate(perMinute: number, onLimited: () => void, clock: Clock): TokenRate {
  const limit = createLimiter({ burst: perMinute, perSecond: perMinute / 60 }, clock)
  return (sha256, holder) => {
    if (limit(sha256) === 0) return
    onLimited()
    throw new Failure('unavailable', `${holder}: too many calls with one token`, {
      reason: 'RateExceeded',
      remedy: 'Give each cluster an Agent or a token of its own, or let the administrator of kas allow more (--agent-calls).',
    })
  }
}
