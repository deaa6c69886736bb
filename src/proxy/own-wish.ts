import type { Call } from './ports.ts'

/**
 * Whether a request that changes something was made by a page of this host: workspaces are sites of the same domain, so cookies
 * alone do not tell. What does not say where it comes from does not count.
 */
export const isOwnWish = ({ headers }: Pick<Call, 'headers'>, host: string): boolean =>
  headers.origin === `https://${host}` && (headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin')
