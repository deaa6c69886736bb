import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, defined } from '../../std/index.ts'
import { childrenIn, createMemoryGuard } from '../processes/index.ts'
import { type DiskLimits, defaultDiskLimits, openDataFolder } from './data-folder.ts'
import { Mirror, type MirrorServices, type Transfer } from './mirror.ts'
import { createApproach, type ReachRules, type Resolve, systemResolve } from './reach.ts'
import { createRecent } from './recent.ts'
import type { Remote } from './remote.ts'
import type { GitProgramSettings } from './run.ts'

/** What keeps its copies in the same folder, under the same limits, and asks nobody whom mirrors may not ask. */
export type MirrorFolders = Pick<MirrorServices, 'data' | 'approach' | 'clock' | 'onTransfer' | 'recent'>

export type Mirrors = Awaited<ReturnType<typeof openMirrors>>

export interface MirrorOptions extends Omit<GitProgramSettings, 'home' | 'guard'> {
  /** Belongs to one process. All of it can be deleted while that does not run. */
  folder: string
  clock: Clock
  /** Limits where repositories may be; without it they may be anywhere that is not forbidden to all. */
  rules?: ReachRules
  resolve?: Resolve
  disk?: DiskLimits
  /** Bytes that all processes of git may take together. */
  memory?: number
  /** Told of each transfer. */
  onTransfer?: (transfer: Transfer) => void
}

/** A transfer of a hundred thousand files takes 8 MiB, and most take 2. */
const MEMORY = 256 * 2 ** 20

export const anywhere: ReachRules = { addresses: ['public', 'private', 'loopback'], hosts: undefined }

/** Opens the data folder and hands out mirrors. */
export async function openMirrors(options: MirrorOptions) {
  const { folder, clock, rules = anywhere, resolve = systemResolve, disk = defaultDiskLimits, memory = MEMORY } = options
  const { environment, protocols, patience, onTransfer = () => undefined } = options
  const home = join(folder, 'home')
  const data = await openDataFolder(join(folder, 'mirrors'), disk, clock)
  const own = await realpath(folder)
  const guard = createMemoryGuard({ bytes: memory, roots: () => childrenIn(own) })
  const services: MirrorServices = {
    settings: { environment, protocols, home, guard, ...defined({ patience }) },
    data,
    approach: createApproach(rules, resolve, environment),
    clock,
    onTransfer,
    turns: new Map(),
    recent: createRecent(),
  }
  return {
    of: (remote: Remote): Mirror => new Mirror(services, remote),
    folders: services,
    /** Of all mirrors on disk. */
    get bytes() {
      return data.bytes
    },
  }
}
