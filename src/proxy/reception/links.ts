import { createHash } from 'node:crypto'
import type { Reply } from '../../dashboard/index.ts'
import type { Clock } from '../../std/index.ts'
import { cookieOf, LINK, setCookie } from '../web/cookies.ts'
import { renderNotice } from '../web/page.ts'
import type { BrowserRequestHead, OwnPathRequest } from '../web/ports.ts'
import { redirect, returnTo } from '../web/redirect.ts'

/** `berth share` makes 32 bytes. */
const TOKEN = /^[\w-]{43}$/
/** A browser shows at most so many of one host. */
const MOST = 4

/** Digests of the links that a browser has followed to this host. */
export const linksOf = (head: Pick<BrowserRequestHead, 'headers'>): string[] => tokensOf(head).map(digest)

const tokensOf = (head: Pick<BrowserRequestHead, 'headers'>): string[] =>
  (cookieOf(head, LINK) ?? '')
    .split('.')
    .filter((token) => TOKEN.test(token))
    .slice(0, MOST)

const digest = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Answers where a link leads: the browser keeps what was in it, for that host alone and out of the reach of scripts, and goes on. */
export function createLinkAnswer(clock: Clock) {
  return ({ head, route, url, recipient }: OwnPathRequest): Reply => {
    const token = url.searchParams.get('token') ?? ''
    const given = TOKEN.test(token) ? digest(token) : undefined
    const share = route.workspace.rules.shares.find(({ link }) => link !== undefined && link === given)
    const now = clock.now()
    if (!share || share.until <= now) return renderNotice(OVER, recipient)
    const others = tokensOf(head).filter((other) => other !== token)
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
