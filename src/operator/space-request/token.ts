import type { Secret } from '../../std/index.ts'

/** What a bound service account token says about itself. The API server checks its signature; we only want to know when to renew it. */
export interface TokenFacts {
  issuedAt: number
  expiresAt: number
  serviceAccountUid: string
}

/** The share of a token's life after which it is renewed, so that a failing renewal has the rest of it to succeed. */
const RENEW_AT = 0.8

export const renewalOf = ({ issuedAt, expiresAt }: TokenFacts): number => issuedAt + (expiresAt - issuedAt) * RENEW_AT

/** `undefined` for anything but a bound token of a service account. */
export function factsOf(token: Secret<string>): TokenFacts | undefined {
  const claims = claimsOf(token.reveal().split('.')[1] ?? '')
  const uid = at(at(at(claims, 'kubernetes.io'), 'serviceaccount'), 'uid')
  const [iat, exp] = [at(claims, 'iat'), at(claims, 'exp')]
  if (typeof uid !== 'string' || typeof iat !== 'number' || typeof exp !== 'number') return undefined
  return { issuedAt: iat * 1000, expiresAt: exp * 1000, serviceAccountUid: uid }
}

function claimsOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    return undefined // Not a JWT: whoever asks treats it as no token at all.
  }
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([name]) => name === key)?.[1]
}
