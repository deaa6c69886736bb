import { getHeapStatistics } from 'node:v8'
import { CREDENTIALS_NAMESPACE } from '../../api/index.ts'
import { createTally, Failure, minutes } from '../../std/index.ts'

export type Memory = ReturnType<typeof createMemory>

/** New objects get so much of the part of an owner; the rest is for the status that is written of them. */
const FOR_NEW = 0.75

/**
 * The memory for the objects that caches keep, in bytes. Each owner gets a part of it, and never more than is left after that: so there is
 * always some left for those who have little. (Choudhury and Hahne, Dynamic Queue Length Thresholds, 1998.)
 */
export function createMemory({ all, each }: { all: number; each: number }) {
  /** The bytes that each owner has, and those that are charged to each payer. */
  const own = createTally()
  const sums = createTally()
  const payers = createPayers()
  const has = (owner: string, bytes: number, isNew: boolean): boolean => {
    const sum = sums.of(payers.of(owner)) + bytes
    const most = Math.min(isNew ? FOR_NEW * each : each, all - sums.sum - bytes)
    return bytes <= 0 || sum <= most
  }
  const add = (owner: string, bytes: number): void => {
    sums.add(payers.of(owner), bytes)
    own.add(owner, bytes)
  }
  return {
    /** The bytes that one owner gets. */
    each,
    /** Gives the owner so many bytes more, if there are as many. Objects that are kept may grow where a new one has no place. */
    take(owner: string, bytes: number, isNew: boolean): boolean {
      if (!has(owner, bytes, isNew)) return false
      add(owner, bytes)
      return true
    },
    giveBack: (owner: string, bytes: number): void => add(owner, -bytes),
    /** Says whether `take` would give as much. */
    has,
    /** From now on all that the owner has, and will have, is charged to another one; to itself again without one. */
    chargeTo(owner: string, other: string | undefined): void {
      const moved = payers.chargedBy(owner)
      for (const one of moved) sums.add(payers.of(one), -own.of(one))
      payers.set(owner, other)
      for (const one of moved) sums.add(payers.of(one), own.of(one))
    },
    /** The owner to whom it is charged. */
    payerOf: payers.of,
  }
}

/** Spaces may be asked for in spaces: what is charged to one is charged on to its own payer. */
function createPayers() {
  const last = new Map<string, string>()
  const next = new Map<string, string>()
  const behind = new Map<string, Set<string>>()
  const of = (owner: string): string => last.get(owner) ?? owner
  /** The owner, and all whose way to their payer leads by it. */
  const chargedBy = (owner: string): Set<string> => {
    const found = new Set([owner])
    for (const each of found) for (const other of behind.get(each) ?? []) found.add(other)
    return found
  }
  const unlink = (owner: string): void => {
    const payer = next.get(owner) ?? ''
    const others = behind.get(payer)
    others?.delete(owner)
    if (others?.size === 0) behind.delete(payer)
    next.delete(owner)
  }
  return {
    of,
    chargedBy,
    /** A payer that would lead back to the owner is none. */
    set(owner: string, payer: string | undefined): void {
      unlink(owner)
      const moved = chargedBy(owner)
      const isPayer = payer !== undefined && !moved.has(payer)
      const to = isPayer ? of(payer) : owner
      if (isPayer) {
        next.set(owner, payer)
        behind.set(payer, (behind.get(payer) ?? new Set()).add(owner))
      }
      for (const each of moved) {
        if (each === to) last.delete(each)
        else last.set(each, to)
      }
    },
  }
}

/** A part of the heap that V8 may have, which follows the limit of the container; and of that one for each owner: 2 is a half, 8 an eighth. */
export function createMemoryOfHeap({ all, each }: { all: number; each: number }): Memory {
  const { heap_size_limit: heap } = getHeapStatistics()
  return createMemory({ all: Math.floor(heap / all), each: Math.floor(heap / each) })
}

/** For the objects of a program's own cluster, by namespace. */
export const createOwnMemory = (): Memory => createMemoryOfHeap({ all: 2, each: 8 })

/** For the objects of clusters that strangers run, by tenant. */
export const createStrangeMemory = (): Memory => createMemoryOfHeap({ all: 8, each: 32 })

/** A store takes the memory for its objects from it. */
export interface StoreMemory {
  /** As of a Memory. Throws `too-large` where nothing may be left out. */
  take(namespace: string, bytes: number, isNew: boolean): boolean
  giveBack(namespace: string, bytes: number): void
  has(namespace: string, bytes: number, isNew: boolean): boolean
}

/** Each namespace has its own. Where tenants can write nothing there is no end. */
export function roomOfNamespaces(memory: Memory): StoreMemory {
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
export const roomOfTenant = (memory: Memory, tenant: string): StoreMemory => ({
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
export function namespaceTooLarge(namespace: string, memory: Memory): Failure {
  const payer = memory.payerOf(namespace)
  const who = payer === namespace ? `namespace ${namespace} has` : `namespace ${payer} has, together with its spaces,`
  return new Failure('too-large', `${who} more objects than are kept in memory of one namespace (${sayShare(memory)})`, {
    reason: 'NamespaceTooLarge',
    remedy: 'Delete those that nobody needs, or have the memory limit of the program raised; it goes on by itself then',
  })
}

/** The bytes that one owner gets, in words. */
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
