import type { WebRequest } from '../../adapters/http/index.ts'
import type { BrowserRequestHead, RoutedWorkspace } from '../web/ports.ts'

/** Reads the head of a request. `undefined`: not everybody on the way would read the same. */
export function headOf(request: WebRequest, isUpgrade: boolean): BrowserRequestHead | undefined {
  const host = isPlain(request) ? plainHost(request.headers.host) : undefined
  const { method = 'GET', url: target = '/', headers } = request
  return host === undefined ? undefined : { method, host, target, headers, isUpgrade, request }
}

/** A host in lower case, without the dot at its end. `undefined`: none that a URL could name. */
export function plainHost(given: string | undefined): string | undefined {
  const host = given?.toLowerCase().replace(/\.(?=$|:\d+$)/, '')
  return host !== undefined && /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/.test(host) ? host : undefined
}

/**
 * Tells a target that is a path, with nothing in it that somebody takes for the end of it, for the beginning of a host, or for nothing.
 * `#` ends a path for some; browsers send neither it nor a `\` in a path, nor what is no printable ASCII.
 */
export const isPlainTarget = (target: string): boolean =>
  /^\/[!-~]*$/.test(target) && !target.includes('#') && !/^[^?]*\\/.test(target)

/** Counts headers of one name, because two are read in two ways. */
export function countOf({ rawHeaders }: Pick<WebRequest, 'rawHeaders'>, name: string): number {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === name) found++
  return found
}

/** Requests that Node's parser refuses never come here. A message of 0.9 has no headers, and yet Node reads them. */
const isPlain = (request: WebRequest): boolean =>
  (request.httpVersion === '1.1' || request.httpVersion === '1.0') &&
  countOf(request, 'host') === 1 &&
  isPlainTarget(request.url ?? '')

/**
 * Tells a request in which pages of other sites have no part. Other workspaces are on the same site, so that browsers send cookies along;
 * pages of this workspace's own ports may use one another. A link that somebody follows is no use of what lies behind it.
 */
export function isOwnOrigin(
  { headers, method, isUpgrade }: Pick<BrowserRequestHead, 'headers' | 'method' | 'isUpgrade'>,
  { rules }: Pick<RoutedWorkspace, 'rules'>,
): boolean {
  const isOf = (page: string) => [...rules.ports.values()].some(({ host }) => page === `https://${host}`)
  const { origin } = headers
  // A browser says where an upgrade comes from, always: it lets nobody read an answer, but everybody ask.
  if (isUpgrade) return origin !== undefined && isOf(origin)
  if (origin !== undefined && !(origin === 'null' && isLink(headers, method))) return isOf(origin)
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none' || isLink(headers, method)
}

const isLink = (headers: BrowserRequestHead['headers'], method: string): boolean =>
  (method === 'GET' || method === 'HEAD') && headers['sec-fetch-mode'] === 'navigate'
