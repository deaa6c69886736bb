import type { Reply } from '../../dashboard/index.ts'
import type { Route } from './ports.ts'

/** Nothing of it is kept, and where it came from is not told: addresses on the way hold tickets. */
export const redirect = (to: URL, cookies: readonly string[] = []): Reply => ({
  status: 303,
  headers: {
    location: to.href,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
  },
  body: '',
})

export const TO_FIRST_PAGE: Reply = { status: 303, headers: { location: '/', 'cache-control': 'no-store' }, body: '' }

const LONGEST = 2048

/**
 * The URL to which somebody goes back after signing in: the host of a workspace that is known, and a path on it. It is put together
 * anew; what cannot be a path of that host becomes its first page. Browsers read `\` as `/`, and leave tabs and line feeds out.
 */
export function returnTo({ host }: Pick<Route, 'host'>, path: string | null | undefined): URL {
  const first = new URL(`https://${host}/`)
  if (!(path && isPath(path))) return first
  const whole = `${first.origin}${path}`
  const url = URL.canParse(whole) ? new URL(whole) : first
  return url.origin === first.origin && url.username === '' && url.password === '' ? url : first
}

const isPath = (path: string): boolean => path.length <= LONGEST && /^\/(?![/\\])[!-~]*$/.test(path) && !/^[^?]*\\/.test(path)
