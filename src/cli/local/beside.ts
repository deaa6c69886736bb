import { existsSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Shell } from '../shell.ts'
import { isRunning, type Part, partsOf } from './parts.ts'

/** A program that `berth up` started beside a cluster. */
export interface Beside extends Part {
  dir: string
  running: boolean
}

/** The programs that `berth up` runs for the cluster at `server`: in the folder of its kubeconfig, or in the one given. */
export function programsBeside(
  { cwd, env }: Pick<Shell, 'cwd' | 'env'>,
  { kubeconfig, local, server }: { kubeconfig?: string | undefined; local: string; server: string },
): Beside[] {
  const file = kubeconfig ?? env.KUBECONFIG
  const given = [...(file ? [dirname(resolve(cwd, file))] : []), resolve(cwd, local)]
  const folders = new Set(given.filter((dir) => existsSync(dir)).map((dir) => realpathSync(dir)))
  const sets = [...folders].map((dir) => partsOf(dir).map((part) => ({ ...part, dir, running: isRunning(dir, part) })))
  return sets.find((parts) => parts.some(({ facts }) => facts.server === server)) ?? []
}
