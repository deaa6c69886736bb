import type { Tickets } from '../../adapters/auth/index.ts'
import { type Clock, isFailure, LRUCache } from '../../std/index.ts'
import { cookieOf, SESSION, setCookie } from '../web/cookies.ts'
import type { Session, Sessions } from '../web/ports.ts'
import type { SignOuts } from './sign-outs.ts'

export interface IssuedSessions extends Sessions {
  /** The header that makes a browser show the session at that host, and there alone. */
  cookie(session: Session, host: string): Promise<string>
}

/** Tickets that were read lately: each request shows one, and a signature costs more than all else that is done for it. */
const MOST = 10_000

const kindOf = (audience: string) => ({ kind: 'session', audience })

export function createSessions(tickets: Tickets, signOuts: SignOuts, clock: Clock): IssuedSessions {
  /** By token and host, which is all that the answer depends on beside the time and the sign-outs: those are asked each time. */
  const known = new LRUCache<string, Session>({ max: MOST })
  const holds = (session: Session): boolean => session.until > clock.now() && !signOuts.endedSince(session)

  const read = async (token: string, host: string): Promise<Session | undefined> => {
    const claims = await tickets.verify(kindOf(host), token).catch(nothingIfRefused)
    return claims && sessionFrom(claims)
  }
  return {
    holds,
    onSignOut: signOuts.onChange,
    async of(head, host) {
      const token = cookieOf(head, SESSION)
      if (token === undefined) return
      // A host has no space, so two pairs never make one key.
      const key = `${host} ${token}`
      const session = known.get(key) ?? (await read(token, host))
      if (!session) return
      known.set(key, session)
      return holds(session) ? session : undefined
    },
    async cookie(session, host) {
      const { until } = session
      return setCookie(SESSION, await tickets.sign(kindOf(host), claimsOf(session), until), (until - clock.now()) / 1000)
    },
  }
}

/** Turns the refusal of a ticket into nothing; other failures stay. */
export function nothingIfRefused(thrown: unknown): undefined {
  if (!isFailure(thrown, 'unauthorized', 'expired')) throw thrown
}

/** As a proxy writes a session, but for its end. */
export const claimsOf = ({ person, since, atProvider }: Session) => ({
  ...{ sub: person.user, groups: [...person.groups], since },
  ...(atProvider && { from: atProvider.subject, ...(atProvider.session !== undefined && { sid: atProvider.session }) }),
})

/** Reads claims that a proxy has written itself. */
export function sessionFrom(claims: Readonly<Record<string, unknown>>): Session | undefined {
  const { sub, groups, since, exp, from, sid } = claims
  if (typeof sub !== 'string' || sub === '' || typeof since !== 'number' || typeof exp !== 'number') return undefined
  const names = Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : []
  const atProvider = typeof from === 'string' ? { subject: from, ...(typeof sid === 'string' && { session: sid }) } : undefined
  return { person: { user: sub, groups: names }, since, until: exp * 1000, ...(atProvider && { atProvider }) }
}
