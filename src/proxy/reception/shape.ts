import type { IncomingMessage } from 'node:http'
import type { Call } from '../ports.ts'

/** What a request wants. `undefined`: not everybody on the way would read the same. */
export function callOf(request: IncomingMessage, isUpgrade: boolean): Call | undefined {
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
 * Whether a target is a path, with nothing in it that somebody takes for the end of it, for the beginning of a host, or for nothing.
 * `#` ends a path for some; browsers send neither it nor a `\` in a path, nor what is no printable ASCII.
 */
export const isPlainTarget = (target: string): boolean =>
  /^\/[!-~]*$/.test(target) && !target.includes('#') && !/^[^?]*\\/.test(target)

/** How often a header is there: two of one name are read in two ways. */
export function countOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): number {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === name) found++
  return found
}

/** What Node's parser refuses never comes here. A message of 0.9 has no headers, and yet Node reads them. */
const isPlain = (request: IncomingMessage): boolean =>
  (request.httpVersion === '1.1' || request.httpVersion === '1.0') &&
  countOf(request, 'host') === 1 &&
  isPlainTarget(request.url ?? '')
