import { createHash, randomUUID } from 'node:crypto'
import type { Provider, Tickets } from '../../adapters/auth/index.ts'
import type { WebRequest } from '../../adapters/http/index.ts'
import { isFromOwnPage, type Reply } from '../../dashboard/index.ts'
import { type Clock, Failure, isFailure, minutes } from '../../std/index.ts'
import { ATTEMPT, cookieNames, cookieOf, SESSION, setCookie } from '../web/cookies.ts'
import { formIn } from '../web/form.ts'
import { type Notice, renderNotice } from '../web/page.ts'
import type { BrowserRequestHead, Recipient, RouteTable, Session } from '../web/ports.ts'
import { redirect, returnTo } from '../web/redirect.ts'
import { type IdentitySettings, personFrom } from './identity.ts'
import { claimsOf, type IssuedSessions } from './sessions.ts'
import type { SignOuts } from './sign-outs.ts'
import { type SessionTransfer, TRANSFER, transferClaims } from './transfer.ts'

interface SignInServices {
  /** The one host to which the provider sends people back. */
  host: string
  provider: Provider
  identity: IdentitySettings
  tickets: Tickets
  sessions: IssuedSessions
  signOuts: SignOuts
  routes: Pick<RouteTable, 'at'>
  /** A session is never longer than this, nor than what the provider says. Milliseconds. */
  longest: number
  clock: Clock
  /** Answers what else people find on this host once they have signed in. */
  home: ((request: WebRequest, url: URL, recipient: Recipient, session: Session) => Promise<Reply>) | undefined
}

/** Somebody may take so long at the provider. */
const ATTEMPT_LASTS = minutes(10)
/** The provider tells it there when it has ended sessions. */
const LOGOUT = '/backchannel-logout'
const LONGEST_LOGOUT = 64 * 1024
/** Sign-ins that one browser may have under way: tabs that were opened together. */
const MOST_ATTEMPTS = 8

/** Answers on the host for signing in. Throws what is no mistake of the visitor's: `unavailable` and `timeout` of the provider among it. */
export function createSignIn(services: SignInServices) {
  return async (head: BrowserRequestHead, url: URL, recipient: Recipient): Promise<Reply> => {
    try {
      if (url.pathname === '/sign-in') return await begin(services, head, url.searchParams, recipient)
      if (url.pathname === '/callback') return await finish(services, head, url, recipient)
      if (url.pathname === '/sign-out') return await signOut(services, head, recipient)
      if (url.pathname === LOGOUT) return await logOut(services, head, recipient)
      if (services.home) return await enter(services, head, url, recipient)
      if (url.pathname === '/') return await front(services, head, recipient)
      return renderNotice(NOT_HERE, recipient)
    } catch (thrown) {
      const notice = noticeOf(Failure.from(thrown))
      if (!notice) throw thrown
      return renderNotice(notice, recipient)
    }
  }
}

/** A visitor who has not signed in does so first, and comes back to the page that was asked for. */
async function enter(services: SignInServices, head: BrowserRequestHead, url: URL, recipient: Recipient): Promise<Reply> {
  const { sessions, host, home } = services
  const session = await sessions.of(head, host)
  // An ingress that asks has no body to give, and shows no page of ours.
  if (!(home && head.request)) return renderNotice(NOT_HERE, recipient)
  if (session) return home(head.request, url, recipient, session)
  if (!recipient.wantsPage) return renderNotice(NOT_SIGNED_IN, recipient)
  const to = new URL(`https://${host}/sign-in`)
  to.searchParams.set('path', pathOf(url))
  return redirect(to)
}

async function begin(
  services: SignInServices,
  head: BrowserRequestHead,
  asked: URLSearchParams,
  recipient: Recipient,
): Promise<Reply> {
  const { routes, sessions, provider, tickets, host, clock } = services
  // Without another host it is this one that somebody wants to see.
  const isHome = services.home !== undefined && !asked.has('host')
  const route = isHome ? { host } : routes.at(asked.get('host') ?? '')
  const visit = isHome ? '' : (asked.get('visit') ?? '')
  if (!(route && (isHome || /^[\w-]{43}$/.test(visit)))) return renderNotice(NOWHERE, recipient)
  const way: SessionTransfer = { host: route.host, path: pathOf(returnTo(route, asked.get('path'))), visit }
  const session = await sessions.of(head, host)
  if (session) return transfer(services, session, way)
  const { url, ...attempt } = await provider.begin()
  const sealed = await tickets.seal(attemptAt(host), { ...attempt, ...way }, clock.now() + ATTEMPT_LASTS)
  const old = cookieNames(head, ATTEMPT)
  const forgotten = old.slice(0, Math.max(0, old.length - MOST_ATTEMPTS + 1)).map((name) => setCookie(name, '', 0))
  return redirect(url, [setCookie(cookieFor(attempt.state), sealed, ATTEMPT_LASTS / 1000), ...forgotten])
}

/** Back from the provider. */
async function finish(services: SignInServices, head: BrowserRequestHead, url: URL, recipient: Recipient): Promise<Reply> {
  const { provider, tickets, identity, sessions, host, longest, clock } = services
  const name = cookieFor(url.searchParams.get('state') ?? '')
  const sealed = cookieOf(head, name)
  // Nobody in this browser has begun it: a link of somebody who wants others to work as him.
  if (sealed === undefined) return renderNotice(NOT_BEGUN, recipient)
  const { state, nonce, verifier, ...claims } = await tickets.open(attemptAt(host), sealed)
  const way = transferClaims(claims)
  if (!(typeof state === 'string' && typeof nonce === 'string' && typeof verifier === 'string' && way))
    return renderNotice(NOT_BEGUN, recipient)
  const since = clock.now()
  const { claims: said, until } = await provider.finish(url, { state, nonce, verifier })
  const atProvider = { subject: said.sub, ...(typeof said.sid === 'string' && { session: said.sid }) }
  const session = { person: personFrom(said, identity), since, until: Math.min(until, since + longest), atProvider }
  // A session that was there before is of no use to somebody who knew it.
  const cookies = [setCookie(name, '', 0), await sessions.cookie(session, host)]
  return transfer(services, session, way, cookies)
}

/** Sends somebody on with a ticket that counts once, for half a minute, in the browser that left that host. */
async function transfer(
  { tickets, clock, routes, host }: SignInServices,
  session: Session,
  way: SessionTransfer,
  cookies: string[] = [],
) {
  if (way.host === host) return redirect(returnTo(way, way.path), cookies)
  const route = routes.at(way.host)
  if (!route) throw new Failure('not-found', 'the workspace has gone meanwhile')
  // Each counts once: two tabs that are opened in the same second must not get the same one.
  const claims = { ...way, jti: randomUUID(), ...claimsOf(session), until: session.until }
  const ticket = await tickets.sign({ kind: TRANSFER.kind, audience: route.host }, claims, clock.now() + TRANSFER.lasts)
  const url = new URL(`https://${route.host}${TRANSFER.path}`)
  url.searchParams.set('ticket', ticket)
  return redirect(url, cookies)
}

async function signOut(services: SignInServices, head: BrowserRequestHead, recipient: Recipient): Promise<Reply> {
  const { sessions, signOuts, provider, host } = services
  const session = await sessions.of(head, host)
  if (!session) return renderNotice(SIGNED_OUT, recipient, { 'set-cookie': [setCookie(SESSION, '', 0)] })
  if (head.method !== 'POST') return renderNotice(askToSignOut(session), recipient)
  if (!isFromOwnPage(head, `https://${host}`)) return renderNotice(FROM_ELSEWHERE, recipient)
  await signOuts.record(session.person.user)
  const there = await provider.endOf(`https://${host}/`).catch(() => undefined)
  const link = there && { label: 'Sign out at the identity provider, too', to: there.href }
  return renderNotice({ ...SIGNED_OUT, link }, recipient, { 'set-cookie': [setCookie(SESSION, '', 0)] })
}

/** The provider itself says that it has ended sessions: OpenID Connect Back-Channel Logout 1.0. */
async function logOut(
  { provider, signOuts, clock }: SignInServices,
  { method, request }: BrowserRequestHead,
  recipient: Recipient,
) {
  if (method !== 'POST' || !request) return renderNotice(NOT_HERE, recipient)
  try {
    const form = await formIn(request, LONGEST_LOGOUT, clock)
    await signOuts.recordLogout(await provider.logoutIn(form.get('logout_token') ?? ''))
    return answerToProvider(200, {})
  } catch (thrown) {
    if (!isFailure(thrown, 'unauthorized', 'invalid', 'too-large')) throw thrown
    return answerToProvider(400, { error: 'invalid_request', error_description: thrown.message })
  }
}

const answerToProvider = (status: number, body: object): Reply => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(body),
})

async function front({ sessions, host }: SignInServices, head: BrowserRequestHead, recipient: Recipient): Promise<Reply> {
  const session = await sessions.of(head, host)
  return renderNotice(session ? askToSignOut(session) : SIGNED_OUT, recipient)
}

const attemptAt = (host: string) => ({ kind: 'attempt', audience: host })
const cookieFor = (state: string): string => `${ATTEMPT}${createHash('sha256').update(state).digest('hex').slice(0, 12)}`
const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`

const NOT_HERE = { status: 404, title: 'There is nothing here', lines: ['This host is where people sign in.'] }
const NOT_SIGNED_IN = { status: 401, title: 'Sign in first', lines: ['Open this page in a browser to sign in.'] }
const NOWHERE = {
  status: 404,
  title: 'That workspace is not here',
  lines: ['There is no workspace under that address. It may have been terminated, or the address is misspelt.'],
}
const NOT_BEGUN = {
  status: 400,
  title: 'This sign-in was not begun here',
  lines: ['It was begun in another browser, too long ago, or by somebody else. Open the workspace again.'],
}
const SIGNED_OUT = {
  status: 200,
  title: 'You are not signed in',
  lines: ['Open a workspace to sign in.'],
}
const FROM_ELSEWHERE = {
  status: 403,
  title: 'That came from another site',
  lines: ['Nothing was done. Sign out from this page itself.'],
}

const askToSignOut = ({ person }: Session) => ({
  status: 200,
  title: 'You are signed in',
  lines: [
    `You are ${person.user}.`,
    'Signing out ends your sessions in all workspaces, in this browser and in others, and what is open in them.',
  ],
  button: { label: 'Sign out everywhere', action: '/sign-out' },
})

/** None where it is no mistake of the visitor's. */
function noticeOf(failure: Failure): Notice | undefined {
  const { message, remedy } = failure
  if (isFailure(failure, 'not-found')) return NOWHERE
  if (!isFailure(failure, 'unauthorized', 'expired', 'invalid')) return undefined
  return { status: 403, title: 'You could not be signed in', lines: [`${message}.`, ...(remedy ? [`${remedy}.`] : [])] }
}
