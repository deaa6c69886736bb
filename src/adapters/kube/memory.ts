import { getHeapStatistics } from 'node:v8'
import { CREDENTIALS_NAMESPACE } from '../../api/index.ts'
import { createTally, Failure, minutes } from '../../std/index.ts'

/**
 * The memory for the objects that caches keep, in bytes. Each owner gets a part of it, and never more than is left after that: so there is
 * always some left for those who have little. (Choudhury and Hahne, Dynamic Queue Length Thresholds, 1998.)
 */
export interface Memory {
  /** What one owner gets. */
  readonly each: number
  /** Whether there are so many bytes more for the owner, who has them then. What is kept already may grow where something new has no place. */
  take(owner: string, bytes: number, isNew: boolean): boolean
  giveBack(owner: string, bytes: number): void
  /** Whether `take` would give as much. */
  has(owner: string, bytes: number, isNew: boolean): boolean
  /** From now on another one has all that this one has, and will have; itself again without one. */
  countFor(owner: string, other: string | undefined): void
}

/** New objects get so much of what an owner gets; the rest is for the status that is written of them. */
const FOR_NEW = 0.75

export function createMemory({ all, each }: { all: number; each: number }): Memory {
  /** By who counts for them, and by whose they are. */
  const sums = createTally()
  const own = createTally()
  const others = new Map<string, string>()
  const whoHas = (owner: string) => others.get(owner) ?? owner
  const has = (owner: string, bytes: number, isNew: boolean): boolean => {
    const sum = sums.of(whoHas(owner)) + bytes
    const most = Math.min(isNew ? FOR_NEW * each : each, all - sums.sum - bytes)
    return bytes <= 0 || sum <= most
  }
  const add = (owner: string, bytes: number): void => {
    sums.add(whoHas(owner), bytes)
    own.add(owner, bytes)
  }
  return {
    each,
    take(owner, bytes, isNew) {
      if (!has(owner, bytes, isNew)) return false
      add(owner, bytes)
      return true
    },
    giveBack: (owner, bytes) => add(owner, -bytes),
    has,
    countFor(owner, other) {
      const bytes = own.of(owner)
      sums.add(whoHas(owner), -bytes)
      if (other === undefined) others.delete(owner)
      else others.set(owner, other)
      sums.add(whoHas(owner), bytes)
    },
  }
}

/** Of the heap that V8 may have, which follows the limit of the container. */
const partOfHeap = (part: number): number => Math.floor(getHeapStatistics().heap_size_limit / part)

/** A part of the heap, and of that one for each owner: 2 is a half, 8 an eighth. */
export const createMemoryOfHeap = ({ all, each }: { all: number; each: number }): Memory =>
  createMemory({ all: partOfHeap(all), each: partOfHeap(each) })

/** For what is kept of a program's own cluster, by namespace. */
export const createOwnMemory = (): Memory => createMemoryOfHeap({ all: 2, each: 8 })

/** For what is kept of clusters that strangers run, by tenant. */
export const createStrangeMemory = (): Memory => createMemoryOfHeap({ all: 8, each: 32 })

/** Where a store takes the memory for its objects. */
export interface Room {
  /** As of a Memory. Throws `too-large` where nothing may be left out. */
  take(namespace: string, bytes: number, isNew: boolean): boolean
  giveBack(namespace: string, bytes: number): void
  has(namespace: string, bytes: number, isNew: boolean): boolean
}

/** Each namespace has its own. Where tenants can write nothing there is no end. */
export function roomOfNamespaces(memory: Memory): Room {
  const isEndless = (namespace: string) => namespace === '' || namespace === CREDENTIALS_NAMESPACE
  return {
    take: (namespace, bytes, isNew) => isEndless(namespace) || memory.take(namespace, bytes, isNew),
    giveBack(namespace, bytes) {
      if (!isEndless(namespace)) memory.giveBack(namespace, bytes)
    },
    has: (namespace, bytes, isNew) => isEndless(namespace) || memory.has(namespace, bytes, isNew),
  }
}

/** All is one tenant's, who can say that there are any number of objects: so nothing is noted of what has no place. */
export const roomOfTenant = (memory: Memory, tenant: string): Room => ({
  take(_, bytes, isNew) {
    if (memory.take(tenant, bytes, isNew)) return true
    throw new Failure(
      'too-large',
      `the target has more objects than are kept in memory of the targets of one namespace (${sayShare(memory)})`,
      {
        reason: 'TooManyObjects',
        // Those that do not fit together are not to come together.
        retryAfter: minutes(0.5) * (1 + Math.random()),
      },
    )
  },
  giveBack: (_, bytes) => memory.giveBack(tenant, bytes),
  has: (_, bytes, isNew) => memory.has(tenant, bytes, isNew),
})

/** Why nothing is done in a namespace of which not everything is seen. */
export const namespaceTooLarge = (namespace: string, memory: Memory): Failure =>
  new Failure(
    'too-large',
    `namespace ${namespace} has more objects than are kept in memory of one namespace (${sayShare(memory)})`,
    {
      reason: 'NamespaceTooLarge',
      remedy: 'Delete those that nobody needs, or have the memory limit of the program raised; it goes on by itself then',
    },
  )

/** What one owner gets, in words. */
export const sayShare = ({ each }: Memory): string => `${Math.floor(each / 2 ** 20)} MiB`

/**
 * About as many bytes as it has on the heap: 0.9 to 1.4 times as many as V8 takes for what JSON.parse makes, pods as well as a hundred
 * thousand empty objects.
 */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return 12 + value.length
  if (typeof value !== 'object' || value === null) return 0
  let sum = 32
  if (Array.isArray(value)) for (const each of value) sum += 8 + weightOf(each)
  else for (const [key, each] of Object.entries(value)) sum += 8 + key.length + weightOf(each)
  return sum
}
