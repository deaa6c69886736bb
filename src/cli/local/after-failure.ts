import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeFolder } from '../../adapters/control-plane/index.ts'
import { Failure } from '../../std/index.ts'
import type { Shell } from '../shell.ts'

/** The folder and those above it, as far as they would have to be made. */
export const missingAt = (dir: string): string[] => (existsSync(dir) ? [] : [dir, ...missingAt(dirname(dir))])

/** Does each step, whatever comes of the others: what fails here is said, and hides no failure that was the first. */
export async function tidyUp({ say }: Shell, ...steps: (() => unknown)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step()
    } catch (thrown) {
      const { message, remedy = '' } = Failure.from(thrown)
      say(`berth: tidying up: ${message}. ${remedy}`.trimEnd().concat('\n'))
    }
  }
}

/**
 * Removes the folder that was made for a start that failed, with those above it. What was started may have said why in its log: the
 * logs stay, and a line says where.
 */
export function clearAfter(thrown: unknown, { say }: Shell, [dir, ...above]: readonly string[]): void {
  if (dir === undefined) return
  const { code, remedy = '' } = Failure.from(thrown)
  const logs = join(dir, 'logs')
  const isTold = code !== 'cancelled' && existsSync(logs) && readdirSync(logs).some((name) => statSync(join(logs, name)).size > 0)
  removeFolder(dir, isTold ? 'logs' : undefined)
  if (!isTold) for (const folder of above) if (readdirSync(folder).length === 0) rmdirSync(folder)
  if (isTold && !remedy.includes(logs)) say(`The logs are in ${logs}.\n`)
}
