import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lockFolder, removeFolder } from '../../adapters/control-plane/index.ts'
import { Failure, sayFailure } from '../../std/index.ts'
import type { Shell } from '../shell.ts'
import { endAll, type UpOptions, waitingFor } from './installation.ts'

/** The folder and those above it, as far as they would have to be made. */
export const missingAt = (dir: string): string[] => (existsSync(dir) ? [] : [dir, ...missingAt(dirname(dir))])

interface StartOptions<T> {
  /** The folders that this makes, the innermost first. */
  made: readonly string[]
  /** Finds what is up already, or fails, which leaves all as it is. */
  find(): T | undefined
  start(): Promise<T>
}

/** Starts an installation while nobody else starts or ends one in the folder. Where it fails, nothing runs, and the folders go. */
export async function startAlone<T>({ shell, dir, report }: UpOptions, { made, find, start }: StartOptions<T>): Promise<T> {
  const release = await lockFolder(dir, waitingFor(dir, report, shell.signal))
  try {
    return find() ?? (await startOrClear())
  } finally {
    release()
  }
  async function startOrClear(): Promise<T> {
    try {
      return await start()
    } catch (thrown) {
      await tidyUp(shell, async () => {
        await endAll(shell, dir)
        clearAfter(thrown, shell, made)
      })
      throw thrown
    }
  }
}

/** A failure of this work is printed, and does not hide the one that came first. */
export async function tidyUp({ say }: Shell, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    say(`berth: tidying up: ${sayFailure(Failure.from(thrown))}\n`)
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
