import { CompactEncrypt, compactDecrypt, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { type Clock, Failure, isRecord, type Secret } from '../../std/index.ts'

/** Two halves, so that no key does two things. 32 bytes each. */
export interface TicketKey {
  readonly id: string
  readonly sign: Secret<Uint8Array>
  readonly seal: Secret<Uint8Array>
}

/** Asked at each ticket: keys come and go. */
export interface TicketKeys {
  /** With which tickets are made; throws while there is none. */
  current(): TicketKey
  byId(id: string): TicketKey | undefined
}

/** What a ticket is for. One of another kind, or for another host, does not count. */
export interface Ticket {
  readonly kind: string
  readonly audience: string
}

/** What a program gives to browsers, and believes when they show it again. */
export interface Tickets {
  /** Everybody can read it, nobody can make one. `until` in milliseconds since the epoch. */
  sign(ticket: Ticket, claims: JWTPayload, until: number): Promise<string>
  /** Throws `unauthorized` for whatever was not signed here, for this, or is over. */
  verify(ticket: Ticket, token: string): Promise<JWTPayload>
  /** The same that nobody can read. */
  seal(ticket: Ticket, claims: JWTPayload, until: number): Promise<string>
  open(ticket: Ticket, token: string): Promise<JWTPayload>
}

/** The only ones: a token may not choose how it is checked. */
const SIGNED_BY = 'HS256'
const SEALED_BY = { alg: 'dir', enc: 'A256GCM' } as const
/** Nothing that is longer can be ours. */
const LONGEST = 8192

export function createTickets({ keys, issuer, clock }: { keys: TicketKeys; issuer: string; clock: Clock }): Tickets {
  const typeOf = ({ kind }: Ticket): string => `berth-${kind}`
  const stated = (ticket: Ticket, claims: JWTPayload, until: number): JWTPayload => ({
    ...claims,
    iss: issuer,
    aud: ticket.audience,
    iat: Math.floor(clock.now() / 1000),
    exp: Math.floor(until / 1000),
  })
  const keyFor = (header: Pick<JWTHeaderParameters, 'kid'>): TicketKey => {
    const key = header.kid === undefined ? undefined : keys.byId(header.kid)
    if (!key) throw refusal('its key is not known')
    return key
  }
  return {
    async sign(ticket, claims, until) {
      const { id, sign } = keys.current()
      return new SignJWT(stated(ticket, claims, until))
        .setProtectedHeader({ alg: SIGNED_BY, typ: typeOf(ticket), kid: id })
        .sign(sign.reveal())
    },
    verify: (ticket, token) =>
      checked(token, async () => {
        const { payload } = await jwtVerify(token, (header) => keyFor(header).sign.reveal(), {
          algorithms: [SIGNED_BY],
          typ: typeOf(ticket),
          issuer,
          audience: ticket.audience,
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp', 'iat', 'aud', 'iss'],
        })
        return payload
      }),
    async seal(ticket, claims, until) {
      const { id, seal } = keys.current()
      const content = new TextEncoder().encode(JSON.stringify(stated(ticket, claims, until)))
      const header = { ...SEALED_BY, typ: typeOf(ticket), kid: id }
      return new CompactEncrypt(content).setProtectedHeader(header).encrypt(seal.reveal())
    },
    open: (ticket, token) =>
      checked(token, async () => {
        const { plaintext, protectedHeader } = await compactDecrypt(token, (header) => keyFor(header).seal.reveal(), {
          keyManagementAlgorithms: [SEALED_BY.alg],
          contentEncryptionAlgorithms: [SEALED_BY.enc],
        })
        const claims: unknown = JSON.parse(new TextDecoder().decode(plaintext))
        if (!isRecord(claims) || protectedHeader.typ !== typeOf(ticket)) throw refusal('it is of another kind')
        if (claims.iss !== issuer || claims.aud !== ticket.audience) throw refusal('it is for something else')
        if (typeof claims.exp !== 'number' || claims.exp * 1000 <= clock.now()) throw refusal('it is over', 'expired')
        return claims
      }),
  }
}

async function checked(token: string, read: () => Promise<JWTPayload>): Promise<JWTPayload> {
  if (token.length > LONGEST) throw refusal('it is too long')
  try {
    return await read()
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    if (thrown instanceof errors.JWTExpired) throw refusal('it is over', 'expired')
    if (thrown instanceof errors.JWTClaimValidationFailed) throw refusal('it is for something else')
    throw refusal('it was not made here')
  }
}

const refusal = (why: string, code: 'unauthorized' | 'expired' = 'unauthorized'): Failure =>
  new Failure(code, `the ticket does not count: ${why}`, { remedy: 'Sign in again' })
