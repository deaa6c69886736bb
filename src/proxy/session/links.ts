import { createHash } from 'node:crypto'
import type { Clock } from '../../std/index.ts'
import type { Call, Knock, Reply, Say } from '../ports.ts'
import { cookieOf, LINK, setCookie } from './cookies.ts'
import { redirect } from './redirect.ts'
import { returnTo } from './return-to.ts'

/** What `berth share` makes: 32 bytes. */
const TOKEN = /^[\w-]{43}$/
/** Of one host, that a browser shows. */
const MOST = 4

/** Digests of the links that a browser has followed to this host. */
export const linksOf = (call: Pick<Call, 'headers'>): string[] => tokensOf(call).map(digest)

const tokensOf = (call: Pick<Call, 'headers'>): string[] =>
  (cookieOf(call, LINK) ?? '')
    .split('.')
    .filter((token) => TOKEN.test(token))
    .slice(0, MOST)

const digest = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Where a link leads: the browser keeps what was in it, for that host alone and out of the reach of scripts, and goes on. */
export function createLinkDoor({ say, clock }: { say: Say; clock: Clock }) {
  return ({ call, route, url, reader }: Knock): Reply => {
    const token = url.searchParams.get('token') ?? ''
    const given = TOKEN.test(token) ? digest(token) : undefined
    const share = route.house.premises.shares.find(({ link }) => link !== undefined && link === given)
    const now = clock.now()
    if (!share || share.until <= now) return say(OVER, reader)
    const others = tokensOf(call).filter((other) => other !== token)
    const value = [token, ...others].slice(0, MOST).join('.')
    // It is of no use for longer, and then the others are asked for again.
    return redirect(returnTo(route, '/'), [setCookie(LINK, value, (share.until - now) / 1000)])
  }
}

const OVER = {
  status: 404,
  title: 'This link does not count',
  lines: ['It has ended, was taken back, or is not whole. Ask whoever gave it to you for another.'],
}
