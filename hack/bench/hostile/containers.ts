import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getuid, pid } from 'node:process'
import { Failure, pause, systemClock } from '../../../src/std/index.ts'
import { LIMIT } from '../../../test/support/shipped-limit.ts'

const HIERARCHY = '/sys/fs/cgroup/memory'
const MIB = 2 ** 20

/** What the kernel counted of a container. */
export interface Counted {
  name: string
  /** MiB, when its processes held the most; files that were read count as well, until somebody needs the room. */
  most: number
  /** Processes that were ended because there was no room. */
  ended: number
}

/** Memory cgroups with the limit that `deploy` gives a program: what a container is to the kernel, as far as memory goes. */
export interface Containers {
  /** What runs the program with this name in a cgroup of its own, in front of its command. */
  enter(name: string): readonly [string, ...string[]]
  counted(): Counted[]
  /** After the programs have ended. */
  remove(): Promise<void>
}

/** cgroup v1 and root, as for a node of our own; undefined elsewhere. */
export function createContainers(): Containers | undefined {
  if (getuid?.() !== 0 || !existsSync(join(HIERARCHY, 'memory.limit_in_bytes'))) return undefined
  const folders = new Map<string, string>()
  const read = (name: string, file: string) => readFileSync(join(folders.get(name) ?? '', file), 'utf8')
  return {
    enter(name) {
      const folder = join(HIERARCHY, `berth-bench-${pid}-${name}`)
      mkdirSync(folder)
      folders.set(name, folder)
      writeFileSync(join(folder, 'memory.limit_in_bytes'), String(LIMIT * MIB))
      return ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', folder]
    },
    counted: () =>
      [...folders.keys()].map((name) => ({
        name,
        most: Number(read(name, 'memory.max_usage_in_bytes')) / MIB,
        ended: Number(/^oom_kill (\d+)$/m.exec(read(name, 'memory.oom_control'))?.[1]),
      })),
    async remove() {
      for (const folder of folders.values()) await removeEmpty(folder)
    },
  }
}

/** Processes that have just ended may still be counted. */
async function removeEmpty(folder: string): Promise<void> {
  for (let turn = 0; readFileSync(join(folder, 'cgroup.procs'), 'utf8') !== ''; turn++) {
    if (turn === 100) throw new Failure('timeout', `there are still processes in ${folder}`)
    await pause(systemClock, 50)
  }
  rmdirSync(folder)
}
