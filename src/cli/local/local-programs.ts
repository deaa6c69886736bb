import { existsSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { statusOf } from '../../adapters/control-plane/index.ts'
import type { Shell } from '../shell.ts'
import { isRunning, type LocalPart, partsOf } from './parts.ts'

/** The programs that `berth up` started on this machine for a cluster, and the servers of the cluster where it is the folder's own. */
export interface LocalPrograms {
  dir: string
  programs: (LocalPart & { running: boolean })[]
  /** The names of those that are not there any more. */
  dead: string[]
}

/** Looks for the programs of the cluster at `server` in the folder of its kubeconfig, and in the one given. */
export function findLocalPrograms(
  { cwd, env }: Pick<Shell, 'cwd' | 'env'>,
  { kubeconfig, local, server }: { kubeconfig?: string | undefined; local: string; server: string },
): LocalPrograms | undefined {
  const file = kubeconfig ?? env.KUBECONFIG
  const given = [...(file ? [dirname(resolve(cwd, file))] : []), resolve(cwd, local)]
  const folders = new Set(given.filter((dir) => existsSync(dir)).map((dir) => realpathSync(dir)))
  const found = [...folders].find((dir) => isFor(server, dir))
  return found === undefined ? undefined : localProgramsIn(found)
}

/** A folder whose state cannot be read is for none. */
function isFor(server: string, dir: string): boolean {
  try {
    return statusOf(dir)?.server === server || partsOf(dir).some(({ facts }) => facts.server === server)
  } catch {
    return false
  }
}

function localProgramsIn(dir: string): LocalPrograms {
  const programs = partsOf(dir).map((part) => ({ ...part, running: isRunning(dir, part) }))
  const ended = programs.filter(({ running }) => !running).map(({ name }) => name)
  return { dir, programs, dead: [...(statusOf(dir)?.dead ?? []), ...ended] }
}

/** The cluster is the folder's, and not one that was named. */
export const isOwnCluster = (dir: string): boolean => statusOf(dir) !== undefined

/** The command that starts again what has ended in a folder; a cluster that is not the folder's own has to be named. */
export const upAgain = (dir: string): string => `berth up --dir ${dir}${isOwnCluster(dir) ? '' : ' --kubeconfig <file>'}`
