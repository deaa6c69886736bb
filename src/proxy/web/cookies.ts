import { Failure } from '../../std/index.ts'
import type { BrowserRequestHead } from './ports.ts'

/**
 * Browsers take a cookie with this prefix only from the host itself, over TLS, and for all of it: neither a workspace beside it nor
 * somebody on the line can put one there.
 */
const OWN = '__Host-berth-'

export const SESSION = `${OWN}session`
/** Marks the browser that left this host to sign in, so that nobody else's arrival counts. */
export const VISIT = `${OWN}visit`
/** The links that led to this host. */
export const LINK = `${OWN}link`
/** One for each sign-in that is under way. */
export const ATTEMPT = `${OWN}sign-in-`

const isOwn = (name: string): boolean => name.toLowerCase().startsWith(OWN.toLowerCase())

/** The value of a cookie. Two of one name are no browser's doing: throws `invalid`. */
export function cookieOf({ headers }: Pick<BrowserRequestHead, 'headers'>, name: string): string | undefined {
  const values = pairsOf(headers.cookie ?? '').filter((pair) => pair.name === name)
  if (values.length > 1) throw new Failure('invalid', `the cookie ${name} was sent twice`, { reason: 'CookieTwice' })
  return values[0]?.value
}

export const cookieNames = ({ headers }: Pick<BrowserRequestHead, 'headers'>, prefix: string): string[] =>
  pairsOf(headers.cookie ?? '').flatMap(({ name }) => (name.startsWith(prefix) ? [name] : []))

const pairsOf = (header: string): { name: string; value: string }[] =>
  header.split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [{ name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }]
  })

/** Leaves of a Cookie header what a workspace gets: everything but ours. `undefined`: nothing is left. */
export function withoutOwn(header: string): string | undefined {
  const kept = header.split(';').filter((pair) => !isOwn(pair.split('=')[0]?.trim() ?? ''))
  return kept.join(';').trim() || undefined
}

/**
 * Leaves of a Set-Cookie header of a workspace what a browser gets. None may have our names, also not by way of a cookie without a name,
 * which is sent back as if its value were one; and none is for other hosts than its own. `undefined`: none of it.
 */
export function harmlessCookie(header: string): string | undefined {
  const [pair = '', ...attributes] = header.split(';')
  const at = pair.indexOf('=')
  const name = at < 0 ? '' : pair.slice(0, at).trim()
  if (name === '' || isOwn(name)) return undefined
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(';')
}

/** For the host alone, not for scripts. `seconds` 0 removes it. */
export const setCookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${Math.max(0, Math.floor(seconds))}; Secure; HttpOnly; SameSite=Lax`
