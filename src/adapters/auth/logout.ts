import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { Failure, isRecord, minutes, seconds } from '../../std/index.ts'

/** Whose sessions a provider has ended: all of somebody, or one of them. */
export interface Logout {
  readonly subject?: string
  /** The provider's own name of the session, `sid`. */
  readonly session?: string
}

export interface LogoutRules {
  issuer: string
  audience: string
  /** Of the provider's signatures. */
  algorithms: readonly string[] | undefined
  now: number
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const YOUNG = minutes(2)
const TOLERANCE = seconds(30)
/** None that the keys of everybody would prove. */
const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$/

/** The keys of a provider, which are read again when another one signs. */
export const keysAt = (url: string, fetching: FetchImplementation | undefined): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), { timeoutDuration: seconds(10), ...(fetching && { [customFetch]: fetching }) })

/** Reads a logout token. Throws `unauthorized` for what the provider has not said now, to us. OpenID Connect Back-Channel Logout 1.0, 2.6. */
export async function readLogout(token: string, keys: JWTVerifyGetKey, rules: LogoutRules): Promise<Logout> {
  const { issuer, audience, algorithms = ['RS256'], now } = rules
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: algorithms.filter((name) => ASYMMETRIC.test(name)),
      currentDate: new Date(now),
      maxTokenAge: YOUNG / 1000,
      clockTolerance: TOLERANCE / 1000,
      requiredClaims: ['iat', 'jti', 'events'],
    })
    const { events, nonce, sub, sid } = payload
    const isLogout = isRecord(events) && isRecord(events[EVENT]) && nonce === undefined
    const logout = {
      ...(typeof sub === 'string' && sub !== '' && { subject: sub }),
      ...(typeof sid === 'string' && sid !== '' && { session: sid }),
    }
    if (!isLogout || Object.keys(logout).length === 0) throw new Failure('unauthorized', 'it is no logout token')
    return logout
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    if (thrown instanceof errors.JWKSTimeout || !(thrown instanceof errors.JOSEError))
      throw new Failure('unavailable', 'the keys of the identity provider cannot be had', { cause: thrown })
    throw new Failure('unauthorized', 'the logout token does not count', { cause: thrown })
  }
}
