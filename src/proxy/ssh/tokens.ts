import { type Kube, reviewToken } from '../../adapters/kube/index.ts'
import { type Clock, recordIn, type Secret } from '../../std/index.ts'
import type { Session } from '../web/ports.ts'

/** Whose token it is, and until when that counts; `undefined` for nobody's. */
export type SessionOfToken = (token: Secret<string>) => Promise<Session | undefined>

/** Asks the API server, which takes these tokens itself. They count as long as a session may, and no longer than they say. */
export const createSessionOfToken =
  (kube: Kube, longest: number, clock: Clock): SessionOfToken =>
  async (token) => {
    const user = await reviewToken(kube, token)
    if (!user) return
    const since = clock.now()
    const until = Math.min(since + longest, endOf(token))
    return until > since ? { person: { user: user.name, groups: user.groups }, since, until } : undefined
  }

/** Read after the API server has proved it; a token that says nothing of its end has none. */
function endOf(token: Secret<string>): number {
  const [, claims = ''] = token.reveal().split('.')
  const { exp } = recordIn(Buffer.from(claims, 'base64url').toString('utf8')) ?? {}
  return typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY
}
