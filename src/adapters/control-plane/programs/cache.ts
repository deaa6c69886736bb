import { isAbsolute, join } from 'node:path'
import { Failure } from '../../../std/index.ts'

/**
 * Where programs are kept between runs. The XDG base directory specification says to ignore a relative folder. cli/compile-cache.ts says
 * the same again, because it may not load the files behind a door of ours.
 */
export function cacheFolder(name: string, { XDG_CACHE_HOME: named, HOME: home }: Record<string, string | undefined>): string {
  const base = named && isAbsolute(named) ? named : home && join(home, '.cache')
  if (!base)
    throw new Failure('invalid', 'there is no place for a cache', { remedy: 'Set HOME, or XDG_CACHE_HOME to an absolute path.' })
  return join(base, 'berth', name)
}
