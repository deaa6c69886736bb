import { Failure, type FailureCode } from '../../std/index.ts'

/** What Redis, or the way to it, says first, and what is meant. */
const WORDS: [said: RegExp, code: FailureCode, reason: string, message: string, remedy: string][] = [
  [
    /^(WRONGPASS|NOAUTH|ERR AUTH)\b/,
    'unauthorized',
    'RedisPasswordWrong',
    'refuses the password',
    'Write the right one into the file of --redis-password, and the name of its user into --redis-user.',
  ],
  [
    /^NOPERM\b/,
    'forbidden',
    'RedisForbidden',
    'does not let this user do that',
    'Let the user of --redis-user use hashes, PUBLISH, SUBSCRIBE and EVAL for the keys and the channel of --redis-prefix.',
  ],
  [/^OOM\b/, 'unavailable', 'RedisFull', 'has no memory left', 'Give it more: see its maxmemory.'],
  [/^READONLY\b/, 'unavailable', 'RedisReadOnly', 'takes no writes', 'Name the primary with --redis, and not a replica.'],
]

/** Of certificates, by the codes of Node. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/

/** Of whatever a command or a connection failed with. Redis repeats no password, and nothing else that it says is passed on. */
export function redisFailure(thrown: unknown, at: string): Failure {
  if (thrown instanceof Failure) return thrown
  const cause = thrown instanceof Error ? thrown : undefined
  const said = cause?.message ?? ''
  for (const [word, code, reason, message, remedy] of WORDS)
    if (word.test(said)) return new Failure(code, `Redis at ${at} ${message}`, { reason, remedy, cause })
  if (cause && 'code' in cause && UNTRUSTED.test(String(cause.code)))
    return new Failure('unavailable', `the certificate of Redis at ${at} is not trusted, or it speaks no TLS`, {
      reason: 'RedisUntrusted',
      remedy: 'Name the authority of its certificate with --redis-ca, and Redis by a name in that certificate.',
      cause,
    })
  return new Failure('unavailable', `Redis at ${at} does not answer`, { reason: 'RedisAway', cause })
}
