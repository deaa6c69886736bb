import { existsSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'

/**
 * The operator and kas load hundreds of files: compiled once, they start a third faster. A cache that cannot be written is none.
 * The folder is the one of adapters/control-plane/acquire.ts; that door, or one of std, would load the files that are to be compiled.
 */
export function keepCompiled({ XDG_CACHE_HOME: named, HOME: home }: Record<string, string | undefined>): void {
  const cache = named && isAbsolute(named) ? named : home && join(home, '.cache')
  if (!cache) return
  const folder = join(cache, 'berth', 'node')
  if (isMade(folder)) enableCompileCache(folder)
}

/** One by one: asked to make several at once, Node tries for ever where none can be made, as in /proc. */
function isMade(folder: string): boolean {
  if (existsSync(folder)) return true
  if (!isMade(dirname(folder))) return false
  try {
    mkdirSync(folder)
  } catch {
    // Another start of ours may have been quicker.
  }
  return existsSync(folder)
}
