import { Failure, type FailureCode } from '../../std/index.ts'

interface Said {
  /** How it begins. */
  words: RegExp
  code: FailureCode
  reason: string
  message: string
  remedy: string
}

/** What Redis refuses a command with. */
const SAID: Said[] = [
  {
    words: /^(WRONGPASS|NOAUTH|ERR AUTH)\b/,
    code: 'unauthorized',
    reason: 'RedisPasswordWrong',
    message: 'Redis refuses the password',
    remedy: 'Write the right one into the file of --redis-password, and the name of its user into --redis-user.',
  },
  {
    words: /^NOPERM\b/,
    code: 'forbidden',
    reason: 'RedisForbidden',
    message: 'Redis does not let this user do that',
    remedy:
      'Let the user of --redis-user use hashes, MULTI, PUBLISH, SUBSCRIBE and EVAL for the keys and the channel of --redis-prefix.',
  },
  {
    words: /^OOM\b/,
    code: 'unavailable',
    reason: 'RedisFull',
    message: 'Redis has no memory left',
    remedy: 'Give it more: see its maxmemory.',
  },
  {
    words: /^READONLY\b/,
    code: 'unavailable',
    reason: 'RedisReadOnly',
    message: 'Redis takes no writes',
    remedy: 'Name the primary with --redis, and not a replica.',
  },
]

/** Of certificates, by the codes of Node. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/

/** Of whatever a command or a connection failed with. What Redis says is a cause, and no part of the message: it is not ours. */
export function redisFailure(thrown: unknown, at: string): Failure {
  if (thrown instanceof Failure) return thrown
  const cause = thrown instanceof Error ? thrown : undefined
  const known = SAID.find(({ words }) => words.test(cause?.message ?? ''))
  if (known) {
    const { code, reason, message, remedy } = known
    return new Failure(code, `${message} (${at})`, { reason, remedy, cause })
  }
  if (cause && 'code' in cause && UNTRUSTED.test(String(cause.code)))
    return new Failure('unavailable', `the certificate of Redis at ${at} is not trusted, or it speaks no TLS`, {
      reason: 'RedisUntrusted',
      remedy: 'Name the authority of its certificate with --redis-ca, and Redis by a name in that certificate.',
      cause,
    })
  return redisAway('unavailable', `Redis at ${at} does not answer`, cause)
}

export const redisAway = (code: 'unavailable' | 'timeout', message: string, cause?: Error) =>
  new Failure(code, message, { reason: 'RedisAway', remedy: 'Check --redis, and that kas reaches it.', cause })
