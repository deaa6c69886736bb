import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version that package.json states. */
export function versionOf(home: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const has = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return has ? String(manifest.version) : 'unknown'
}
