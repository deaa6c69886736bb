import { readdir, readFile, readlink } from 'node:fs/promises'
import { kill, pid } from 'node:process'
import { type Clock, seconds, systemClock } from '../../std/index.ts'

export interface MemoryGuard {
  /** Looks on for as long as the work takes. */
  during<T>(work: () => PromiseLike<T>): Promise<T>
}

export interface MemoryGuardOptions {
  /** All that the processes may take together; what they map of files is not theirs. */
  bytes: number
  /** The processes that are looked at, each with all it has started. */
  roots: () => Promise<readonly number[]>
  clock?: Clock
}

const PAUSE = seconds(0.1)

/**
 * Ends the process that takes the most memory, with all it has started, whenever all together take more than they may. Only
 * where the kernel says how much that is (Linux). Looking ten times a second lets a greedy one take a little more; what it
 * never does is to take the machine.
 */
export function createMemoryGuard({ bytes, roots, clock = systemClock }: MemoryGuardOptions): MemoryGuard {
  let working = 0
  let isLooking = false
  const look = async () => {
    const own = await wordsOf(pid)
    const families = await Promise.all((await roots()).map((root) => familyOf(root, own)))
    if (sumOf(families) > bytes) end(families.reduce((most, family) => (family.bytes > most.bytes ? family : most)))
    if (working > 0) clock.after(PAUSE, () => void look())
    else isLooking = false
  }
  return {
    async during(work) {
      working++
      if (!isLooking) {
        isLooking = true
        clock.after(PAUSE, () => void look())
      }
      try {
        return await work()
      } finally {
        working--
      }
    },
  }
}

/** What this program has started and is still at work in the folder, given without links, or below it. */
export async function childrenIn(folder: string): Promise<number[]> {
  const children = await startedBy(pid, pid)
  const places = await Promise.all(children.map((child) => readlink(`/proc/${child}/cwd`).catch(() => '')))
  return children.filter((_, at) => `${places[at]}/`.startsWith(`${folder}/`))
}

/** A process and all that descend from it. */
export interface Family {
  ids: readonly number[]
  /** Resident, and mapped from no file. */
  bytes: number
}

/** `own`: the words with which a program was started. A copy of it that is about to become another one still has them, and no memory but that program's. */
export async function familyOf(eldest: number, own?: string): Promise<Family> {
  const threads = await readdir(`/proc/${eldest}/task`).catch(() => [])
  const children = await Promise.all(threads.map((thread) => startedBy(eldest, Number(thread))))
  const families = await Promise.all(children.flat().map((child) => familyOf(child, own)))
  return { ids: [eldest, ...families.flatMap(({ ids }) => ids)], bytes: (await bytesOf(eldest, own)) + sumOf(families) }
}

const startedBy = async (parent: number, thread: number): Promise<number[]> =>
  [...(await textOf(`/proc/${parent}/task/${thread}/children`)).matchAll(/\d+/g)].map(([child]) => Number(child))

/** `RssAnon:     123 kB`. */
async function bytesOf(id: number, own: string | undefined): Promise<number> {
  if ((await wordsOf(id)) === own) return 0
  const [, kilobytes = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(await textOf(`/proc/${id}/status`)) ?? []
  return Number(kilobytes) * 1024
}

/** What it was started with. */
const wordsOf = (id: number): Promise<string> => textOf(`/proc/${id}/cmdline`)

/** Nothing of a process that has just ended, or where there is no such kernel. */
const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

const sumOf = (families: readonly Family[]): number => families.reduce((sum, { bytes }) => sum + bytes, 0)

function end({ ids }: Family): void {
  for (const id of ids) {
    try {
      kill(id, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
