import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../adapters/control-plane/index.ts'

/**
 * The port of the folder's Git server: the same at each start while nobody else has it, because remotes of clones and GitProjects
 * in the folder's etcd name it.
 */
export async function gitPortOf(dir: string): Promise<number> {
  const file = join(dir, 'git-port')
  const port = await freePort(portIn(file))
  writeFileSync(file, `${port}\n`)
  return port
}

function portIn(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}
