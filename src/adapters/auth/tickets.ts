import { EncryptJWT, errors, type JWTHeaderParameters, type JWTPayload, jwtDecrypt, jwtVerify, SignJWT } from 'jose'
import { type Clock, Failure, type Secret } from '../../std/index.ts'

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

/** The purpose of a ticket. One of another kind, or for another host, does not count. */
interface Ticket {
  readonly kind: string
  readonly audience: string
}

export type Tickets = ReturnType<typeof createTickets>

/** The only ones: a token may not choose how it is checked. */
const SIGNED_BY = 'HS256'
const SEALED_BY = { alg: 'dir', enc: 'A256GCM' } as const
/** Nothing that is longer can be ours. */
const LONGEST = 8192

/** A program gives tickets to browsers, and believes them when they are shown again. */
export function createTickets({ keys, issuer, clock }: { keys: TicketKeys; issuer: string; clock: Clock }) {
  const typeOf = ({ kind }: Ticket): string => `berth-${kind}`
  const stated = (ticket: Ticket, claims: JWTPayload, until: number): JWTPayload => ({
    ...claims,
    iss: issuer,
    aud: ticket.audience,
    iat: Math.floor(clock.now() / 1000),
    exp: Math.floor(until / 1000),
  })
  const expected = (ticket: Ticket) => ({
    typ: typeOf(ticket),
    issuer,
    audience: ticket.audience,
    currentDate: new Date(clock.now()),
    requiredClaims: ['exp', 'iat', 'aud', 'iss'],
  })
  const keyFor = (header: Pick<JWTHeaderParameters, 'kid'>): TicketKey => {
    const key = header.kid === undefined ? undefined : keys.byId(header.kid)
    if (!key) throw refusal('its key is not known')
    return key
  }
  return {
    /** Everybody can read it, nobody can make one. `until` in milliseconds since the epoch. */
    async sign(ticket: Ticket, claims: JWTPayload, until: number): Promise<string> {
      const { id, sign } = keys.current()
      return new SignJWT(stated(ticket, claims, until))
        .setProtectedHeader({ alg: SIGNED_BY, typ: typeOf(ticket), kid: id })
        .sign(sign.reveal())
    },
    /** Throws `unauthorized` for a token that was not signed here, for this, or is over. */
    verify: (ticket: Ticket, token: string) =>
      checked(token, () =>
        jwtVerify(token, (header) => keyFor(header).sign.reveal(), { ...expected(ticket), algorithms: [SIGNED_BY] }),
      ),
    /** The same that nobody can read. */
    async seal(ticket: Ticket, claims: JWTPayload, until: number): Promise<string> {
      const { id, seal } = keys.current()
      return new EncryptJWT(stated(ticket, claims, until))
        .setProtectedHeader({ ...SEALED_BY, typ: typeOf(ticket), kid: id })
        .encrypt(seal.reveal())
    },
    open: (ticket: Ticket, token: string) =>
      checked(token, () =>
        jwtDecrypt(token, (header) => keyFor(header).seal.reveal(), {
          ...expected(ticket),
          keyManagementAlgorithms: [SEALED_BY.alg],
          contentEncryptionAlgorithms: [SEALED_BY.enc],
        }),
      ),
  }
}

async function checked(token: string, read: () => Promise<{ payload: JWTPayload }>): Promise<JWTPayload> {
  if (token.length > LONGEST) throw refusal('it is too long')
  try {
    return (await read()).payload
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    if (thrown instanceof errors.JWTExpired) throw refusal('it is over', 'expired')
    if (thrown instanceof errors.JWTClaimValidationFailed) throw refusal('it is for something else')
    throw refusal('it was not made here')
  }
}

const refusal = (why: string, code: 'unauthorized' | 'expired' = 'unauthorized'): Failure =>
  new Failure(code, `the ticket does not count: ${why}`, { remedy: 'Sign in again' })
