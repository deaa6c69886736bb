import { createHash, randomBytes } from 'node:crypto'
import type { Tickets } from '../../adapters/auth/index.ts'
import type { Reply } from '../../dashboard/index.ts'
import { type Clock, minutes, seconds } from '../../std/index.ts'
import { cookieOf, SESSION, setCookie, VISIT } from '../web/cookies.ts'
import { renderNotice } from '../web/page.ts'
import type { BrowserRequestHead, OwnPathRequest, Route } from '../web/ports.ts'
import { redirect, returnTo } from '../web/redirect.ts'
import { type IssuedSessions, nothingIfRefused, sessionFrom } from './sessions.ts'
import { TRANSFER, transferClaims } from './transfer.ts'

/** A browser knows this between leaving a host and coming back to it. */
interface Departure {
  secret: string
  /** Arrivals without a session since then. */
  arrivals: number
  since: number
}

const VISIT_LASTS = minutes(15)
/** A browser that keeps no session would go round and round. */
const LOOP = { arrivals: 5, within: seconds(30) }

/** Answers on the host of a workspace, as far as signing in concerns it. */
export function createArrivals(signInHost: string, tickets: Tickets, sessions: IssuedSessions, clock: Clock) {
  /** Tickets that have been used, until they are over: each counts once. */
  const used = new Map<string, number>()
  const useUp = (ticket: string): boolean => {
    const now = clock.now()
    for (const [key, until] of used) {
      if (until > now) break
      used.delete(key)
    }
    const key = digest(ticket)
    if (used.has(key)) return false
    used.set(key, now + TRANSFER.lasts)
    return true
  }
  /** Sends somebody away to sign in. */
  const depart = (head: BrowserRequestHead, route: Route, target: string): Reply => {
    const now = clock.now()
    const before = departureOf(head, now)
    const visit = before ?? { secret: randomBytes(32).toString('base64url'), arrivals: 0, since: now }
    const to = new URL(`https://${signInHost}/sign-in`)
    to.searchParams.set('host', route.host)
    to.searchParams.set('path', target)
    to.searchParams.set('visit', digest(visit.secret))
    return redirect(to, [visitCookie(visit)])
  }
  /** Somebody has come back. */
  const arrive = async ({ head, route, url, recipient }: OwnPathRequest): Promise<Reply> => {
    const now = clock.now()
    const visit = departureOf(head, now)
    if (!visit) return renderNotice(NO_COOKIES, recipient)
    const ticket = url.searchParams.get('ticket') ?? ''
    const claims = await tickets.verify({ kind: TRANSFER.kind, audience: route.host }, ticket).catch(nothingIfRefused)
    const way = claims && transferClaims(claims)
    if (!(claims && way) || way.visit !== digest(visit.secret) || !useUp(ticket)) return renderNotice(NOT_YOURS, recipient)
    const session = sessionFrom({ ...claims, exp: Number(claims.until) / 1000 })
    if (!(session && sessions.holds(session))) return renderNotice(NOT_YOURS, recipient)
    const counted = countArrival(visit, now, cookieOf(head, SESSION) !== undefined)
    if (counted.arrivals >= LOOP.arrivals) return renderNotice(NO_COOKIES, recipient, { 'set-cookie': [setCookie(VISIT, '', 0)] })
    return redirect(returnTo(route, way.path), [await sessions.cookie(session, route.host), visitCookie(counted, LOOP.within)])
  }
  return {
    depart,
    /** By name, below /.berth/ on the hosts of workspaces. */
    ownPaths: {
      arrive,
      'sign-in': ({ head, route, url }: OwnPathRequest): Reply => depart(head, route, targetIn(route, url)),
      /** Only the host for signing in knows all sessions. */
      'sign-out': (): Reply => redirect(new URL(`https://${signInHost}/sign-out`), [setCookie(SESSION, '', 0)]),
    },
  }
}

/**
 * Reads where somebody was: the whole URL in `rd`, as ingress-nginx writes it, or as nginx does, which escapes nothing. It is checked where
 * it is gone back to.
 */
function targetIn({ host }: Route, { search, searchParams }: URL): string {
  const [, bare] = /^\?rd=(https:\/\/.*)$/.exec(search) ?? []
  const whole = bare ?? searchParams.get('rd') ?? ''
  const here = `https://${host}`
  return whole.startsWith(`${here}/`) ? whole.slice(here.length) : '/'
}

const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

function departureOf(head: BrowserRequestHead, now: number): Departure | undefined {
  const [, secret = '', arrivals, since] = /^([\w-]{43})\.(\d{1,2})\.(\d{13})$/.exec(cookieOf(head, VISIT) ?? '') ?? []
  if (secret === '') return undefined
  const visit = { secret, arrivals: Number(arrivals), since: Number(since) }
  return now - visit.since < VISIT_LASTS ? visit : undefined
}

/** Tabs that are opened together arrive one after the other; all but the first show a session. */
function countArrival(visit: Departure, now: number, hasSession: boolean): Departure {
  if (now - visit.since >= LOOP.within) return { ...visit, arrivals: 1, since: now }
  return hasSession ? visit : { ...visit, arrivals: visit.arrivals + 1 }
}

const visitCookie = ({ secret, arrivals, since }: Departure, lasts = VISIT_LASTS): string =>
  setCookie(VISIT, `${secret}.${arrivals}.${since}`, lasts / 1000)

const NO_COOKIES = {
  status: 400,
  title: 'Your browser keeps no cookies of this site',
  lines: ['You have signed in, but this browser does not say so here. Allow cookies for this address, and open it again.'],
}
const NOT_YOURS = {
  status: 400,
  title: 'This link does not count any more',
  lines: ['It counts once, for half a minute, in the browser that asked for it. Open the workspace again.'],
}
