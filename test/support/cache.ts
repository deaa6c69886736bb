import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../src/adapters/control-plane/index.ts'

/** Where something is kept between runs that is made of these files: other files, another place. */
export function placeFor(name: string, files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return join(cacheFolder(name, process.env), hash.digest('hex').slice(0, 16))
}
