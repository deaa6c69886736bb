import { createSecretKey } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { type Clock, Failure, LRUCache, Secret, seconds } from '../../std/index.ts'

export interface JwtOptions {
  /** At least 32 bytes. */
  secret: Secret<Uint8Array>
  issuer: string
  audience: string
  clock: Clock
}

/** The only one: a token may not choose how it is checked. */
const ALGORITHM = 'HS256'
/** A token counts so long, and by so much the clock of the other side may be behind. */
const LIFETIME = seconds(5)
/** A token is shown again so long, so that not every call costs a signature. */
const SHOWN = seconds(1)
/** Answers that are remembered: tokens are shown several times. */
const MOST = 1000

/** Tokens for the calls of one side. */
export function createSigner({ secret, issuer, audience, clock }: JwtOptions): () => Promise<Secret<string>> {
  const key = createSecretKey(secret.reveal())
  let shown: { at: number; token: Promise<Secret<string>> } | undefined
  const sign = async (now: number) => {
    const at = (ms: number) => Math.floor((now + ms) / 1000)
    const jwt = new SignJWT().setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' }).setIssuer(issuer).setAudience([audience])
    jwt.setIssuedAt(at(0)).setNotBefore(at(-LIFETIME)).setExpirationTime(at(LIFETIME))
    return new Secret(await jwt.sign(key))
  }
  return () => {
    const now = clock.now()
    if (!shown || now - shown.at >= SHOWN || now < shown.at) shown = { at: now, token: sign(now) }
    return shown.token
  }
}

/** Checks what calls show: `authorization: Bearer <token>`. Throws, for an UNAUTHENTICATED, without a word about the secret. */
export function createVerifier(options: JwtOptions): (authorization: string | undefined) => Promise<void> {
  const { secret, issuer, audience, clock } = options
  const key = createSecretKey(secret.reveal())
  /** Until when each token counts, milliseconds. */
  const known = new LRUCache<string, number>({ max: MOST })
  return async (authorization) => {
    const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    if (token === undefined) throw refusal('the call carries no bearer token', 'TokenMissing')
    if ((known.get(token) ?? 0) > clock.now()) return
    const { exp } = await check(token)
    known.set(token, exp * 1000)
  }

  async function check(token: string): Promise<{ exp: number }> {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        issuer,
        audience,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp'],
      })
      return { exp: payload.exp ?? 0 }
    } catch (thrown) {
      if (thrown instanceof errors.JWTExpired) throw refusal('the token has expired', 'TokenExpired')
      if (thrown instanceof errors.JWTClaimValidationFailed)
        throw refusal(`the token is not for this: its claim ${thrown.claim} is wrong`, 'TokenForeign')
      throw refusal('the token is not valid', 'TokenInvalid')
    }
  }
}

const refusal = (message: string, reason: string) =>
  new Failure('unauthorized', message, {
    reason,
    remedy: 'Check that both sides have the same secret and that their clocks agree.',
  })
