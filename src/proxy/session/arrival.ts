import { createHash, randomBytes } from 'node:crypto'
import type { Tickets } from '../../adapters/auth/index.ts'
import { type Clock, isFailure, minutes, seconds } from '../../std/index.ts'
import type { Call, Knock, Reply, Route, Say } from '../ports.ts'
import { cookieOf, SESSION, setCookie, VISIT } from './cookies.ts'
import { redirect } from './redirect.ts'
import { returnTo } from './return-to.ts'
import { type IssuedSessions, sessionFrom } from './sessions.ts'
import { TRANSFER, transferClaims } from './transfer.ts'

export interface ArrivalDesk {
  /** The host for signing in. */
  signInHost: string
  tickets: Tickets
  sessions: IssuedSessions
  say: Say
  clock: Clock
}

/** What a browser knows between leaving a host and coming back to it. */
interface Visit {
  secret: string
  /** Arrivals without a session since then. */
  arrivals: number
  since: number
}

const VISIT_LASTS = minutes(15)
/** A browser that keeps no session would go round and round. */
const LOOP = { arrivals: 5, within: seconds(30) }

/** The host of a workspace, as far as signing in concerns it. */
export function createArrivals({ signInHost, tickets, sessions, say, clock }: ArrivalDesk) {
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
  const depart = (call: Call, route: Route, target: string): Reply => {
    const now = clock.now()
    const before = visitOf(call, now)
    const visit = before ?? { secret: randomBytes(32).toString('base64url'), arrivals: 0, since: now }
    const to = new URL(`https://${signInHost}/sign-in`)
    to.searchParams.set('host', route.host)
    to.searchParams.set('path', target)
    to.searchParams.set('visit', digest(visit.secret))
    return redirect(to, [visitCookie(visit)])
  }
  /** Somebody has come back. */
  const arrive = async ({ call, route, url, reader }: Knock): Promise<Reply> => {
    const now = clock.now()
    const visit = visitOf(call, now)
    if (!visit) return say(NO_COOKIES, reader)
    const ticket = url.searchParams.get('ticket') ?? ''
    const claims = await tickets.verify({ kind: TRANSFER.kind, audience: route.host }, ticket).catch((thrown: unknown) => {
      if (isFailure(thrown, 'unauthorized', 'expired')) return
      throw thrown
    })
    const way = claims && transferClaims(claims)
    if (!(claims && way) || way.visit !== digest(visit.secret) || !useUp(ticket)) return say(NOT_YOURS, reader)
    const session = sessionFrom({ ...claims, exp: Number(claims.until) / 1000 })
    if (!(session && sessions.holds(session))) return say(NOT_YOURS, reader)
    const counted = countArrival(visit, now, cookieOf(call, SESSION) !== undefined)
    if (counted.arrivals >= LOOP.arrivals) return say(NO_COOKIES, reader, { 'set-cookie': [setCookie(VISIT, '', 0)] })
    return redirect(returnTo(route, way.path), [await sessions.cookie(session, route.host), visitCookie(counted, LOOP.within)])
  }
  return {
    depart,
    /** Below /.berth/ on the hosts of workspaces. */
    doors: {
      arrive,
      'sign-in': ({ call, route, url }: Knock): Reply => depart(call, route, targetIn(route, url)),
      /** Only the host for signing in knows all sessions. */
      'sign-out': (): Reply => redirect(new URL(`https://${signInHost}/sign-out`), [setCookie(SESSION, '', 0)]),
    },
  }
}

/**
 * Where somebody was: the whole URL in `rd`, as ingress-nginx writes it, or as nginx does, which escapes nothing. It is checked where
 * it is gone back to.
 */
function targetIn({ host }: Route, { search, searchParams }: URL): string {
  const [, bare] = /^\?rd=(https:\/\/.*)$/.exec(search) ?? []
  const whole = bare ?? searchParams.get('rd') ?? ''
  const here = `https://${host}`
  return whole.startsWith(`${here}/`) ? whole.slice(here.length) : '/'
}

const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

function visitOf(call: Call, now: number): Visit | undefined {
  const [, secret = '', arrivals, since] = /^([\w-]{43})\.(\d{1,2})\.(\d{13})$/.exec(cookieOf(call, VISIT) ?? '') ?? []
  if (secret === '') return undefined
  const visit = { secret, arrivals: Number(arrivals), since: Number(since) }
  return now - visit.since < VISIT_LASTS ? visit : undefined
}

/** Tabs that are opened together arrive one after the other; all but the first show a session. */
function countArrival(visit: Visit, now: number, hasSession: boolean): Visit {
  if (now - visit.since >= LOOP.within) return { ...visit, arrivals: 1, since: now }
  return hasSession ? visit : { ...visit, arrivals: visit.arrivals + 1 }
}

const visitCookie = ({ secret, arrivals, since }: Visit, lasts = VISIT_LASTS): string =>
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
