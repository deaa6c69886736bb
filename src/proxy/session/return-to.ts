import type { Route } from '../ports.ts'

const LONGEST = 2048

/**
 * Where somebody goes back to after signing in: the host of a workspace that is known, and a path on it. The URL is put together
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
