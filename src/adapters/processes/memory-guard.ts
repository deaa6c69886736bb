import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
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
  roots: () => readonly number[]
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
  const look = () => {
    const eldest = roots()
    if (sumOf(eldest.map((root) => familyOf(root))) > bytes) endLargest(eldest, bytes)
    if (working > 0) clock.after(PAUSE, look)
    else isLooking = false
  }
  return {
    async during(work) {
      working++
      if (!isLooking) {
        isLooking = true
        clock.after(PAUSE, look)
      }
      try {
        return await work()
      } finally {
        working--
      }
    },
  }
}

/** The processes that this program has started and that still work in the folder, given without links, or below it. */
export const childrenIn = (folder: string): number[] =>
  startedBy(pid, pid).filter((child) => `${placeOf(child)}/`.startsWith(`${folder}/`))

/** A process and all that descend from it. */
export interface Family {
  ids: readonly number[]
  /** Resident, and mapped from no file. */
  bytes: number
}

/**
 * `own`: the words with which a program was started. A copy of it that is about to become another one still has them, and no memory but
 * that program's. The kernel answers from memory: to wait for another thread would take several times as long as what it reads.
 */
export function familyOf(eldest: number, own?: string): Family {
  const threads = orNothing(() => readdirSync(`/proc/${eldest}/task`), [])
  const children = threads.flatMap((thread) => startedBy(eldest, Number(thread)))
  const families = children.map((child) => familyOf(child, own))
  return { ids: [eldest, ...families.flatMap(({ ids }) => ids)], bytes: bytesOf(eldest, own) + sumOf(families) }
}

const startedBy = (parent: number, thread: number): number[] =>
  [...textOf(`/proc/${parent}/task/${thread}/children`).matchAll(/\d+/g)].map(([child]) => Number(child))

/** `RssAnon:     123 kB`. */
function bytesOf(id: number, own: string | undefined): number {
  if (own !== undefined && wordsOf(id) === own) return 0
  const [, kilobytes = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(textOf(`/proc/${id}/status`)) ?? []
  return Number(kilobytes) * 1024
}

/** The words that it was started with. */
const wordsOf = (id: number): string => textOf(`/proc/${id}/cmdline`)

const placeOf = (id: number): string => orNothing(() => readlinkSync(`/proc/${id}/cwd`), '')

const textOf = (path: string): string => orNothing(() => readFileSync(path, 'utf8'), '')

/** Of a process that has just ended, or where there is no such kernel, there is nothing to read. */
function orNothing<T>(read: () => T, nothing: T): T {
  try {
    return read()
  } catch {
    return nothing
  }
}

const sumOf = (families: readonly Family[]): number => families.reduce((sum, { bytes }) => sum + bytes, 0)

/** Looked at once more, without copies of this program that are about to become another one. */
function endLargest(eldest: readonly number[], bytes: number): void {
  const own = wordsOf(pid)
  const families = eldest.map((root) => familyOf(root, own))
  if (sumOf(families) > bytes) end(families.reduce((most, family) => (family.bytes > most.bytes ? family : most)))
}

function end({ ids }: Family): void {
  for (const id of ids) {
    try {
      kill(id, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
