import { durationOf, isRecord, recordIn, type Secret } from '../../std/index.ts'

/** The claims of a bound service account token. The API server checks its signature; we only want to know when to renew it. */
export interface TokenFacts {
  issuedAt: number
  expiresAt: number
  serviceAccountUid: string
}

/** The share of a token's life after which it is renewed, so that a failing renewal has the rest of it to succeed. */
const RENEW_AT = 0.8

export const renewalOf = ({ issuedAt, expiresAt }: TokenFacts): number => issuedAt + (expiresAt - issuedAt) * RENEW_AT

/** `1h30m` in seconds, as a TokenRequest wants it. */
export const secondsOf = (lifetime = '24h'): number => durationOf(lifetime) / 1000

/** `undefined` for anything but a bound token of a service account. */
export function factsOf(token: Secret<string>): TokenFacts | undefined {
  const claims = recordIn(Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString('utf8'))
  const { iat, exp, 'kubernetes.io': bound } = claims ?? {}
  const uid = isRecord(bound) && isRecord(bound.serviceaccount) ? bound.serviceaccount.uid : undefined
  if (typeof uid !== 'string' || typeof iat !== 'number' || typeof exp !== 'number') return undefined
  return { issuedAt: iat * 1000, expiresAt: exp * 1000, serviceAccountUid: uid }
}
