import type { Call, House } from '../ports.ts'

/**
 * Whether pages of other sites have no part in a request. Other workspaces are on the same site, so that browsers send cookies along;
 * pages of this workspace's own ports may use one another. A link that somebody follows is no use of what lies behind it.
 */
export function isOwnOrigin(
  { headers, method, isUpgrade }: Pick<Call, 'headers' | 'method' | 'isUpgrade'>,
  house: House,
): boolean {
  const { origin } = headers
  // A browser says where an upgrade comes from, always: it lets nobody read an answer, but everybody ask.
  if (isUpgrade) return origin !== undefined && isOf(house, origin)
  if (origin !== undefined && !(origin === 'null' && isLink(headers, method))) return isOf(house, origin)
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none' || isLink(headers, method)
}

const isLink = (headers: Call['headers'], method: string): boolean =>
  (method === 'GET' || method === 'HEAD') && headers['sec-fetch-mode'] === 'navigate'

function isOf(house: House, origin: string): boolean {
  for (const { host } of house.premises.ports.values()) if (origin === `https://${host}`) return true
  return false
}
