import { type Buckets, type Clock, createBuckets, type Log, type Rate } from '../../../std/index.ts'
import type { Held, InventoryStore } from '../inventory/inventory.ts'
import type { SyncPlan } from '../plan/plan.ts'
import type { Remembered, Wanted } from '../plan/wanted.ts'
import type { Observed } from '../state/read-states.ts'
import { createFights, type Fights } from './fights.ts'
import { createWatchedStates, type WatchedStates } from './watched-states.ts'
import { createWatches } from './watches.ts'

/** The memory of a sync between two passes. A restart loses it, and nothing is wrong then. */
export interface SyncMemory {
  readonly states: WatchedStates
  readonly fights: Fights
  /** By which rules objects are looked at: what was seen by others says nothing. */
  readonly rules: string
  /** Something is to be done or said. */
  readonly ring: () => void
  /** Until the function that it returns is called, something is being written. */
  readonly beginWrite: () => () => void
  readonly admitRepairs: AdmitRepairs
  wanted?: Remembered | undefined
  /** Where the inventory is kept; it knows what it read last. */
  store?: InventoryStore | undefined
  /** Everything was in effect after the last pass, and this is what it was. */
  settled?: SettledPass | undefined
}

export interface SettledPass {
  wanted: Wanted
  held: readonly Held[]
  /** As it was seen then, in this generation of the states. */
  observed: Observed
  generation: number
  /** There was nothing to do, and there is nothing as long as nothing else is seen. */
  plan: SyncPlan | undefined
}

/** The identity and the rules by which the objects of a sync are looked at. */
interface SyncIdentity {
  /** On whose behalf: each tenant has its share of the watches. */
  tenant: string
  rules: string
  /** Called when one of the objects has changed so that something is to be done or said. */
  ring: () => void
}

export interface SyncMemories {
  /** Other rules begin a new one. */
  of(owner: string, identity: SyncIdentity): SyncMemory
  /** Its watches end, and it is forgotten. */
  end(owner: string): void
  /** Watches that are open or about to be. */
  readonly watches: number
  close(): void
}

interface SyncMemoriesOptions {
  clock: Clock
  log: Log
  /** Watches that are open at once; beyond it, objects are read each interval. */
  mostWatches?: number | undefined
  /** How many objects the syncs of one tenant may set back that were changed in the cluster. */
  repairs?: Rate
}

/** Each is one stream of a shared connection, and some memory on both sides. */
const MOST_WATCHES = 20_000

/**
 * Objects that one tenant's syncs go through because one of them has changed, some microseconds each. What changes now and then is mended at
 * once. Where one of ten thousand changes all the time, all that changed meanwhile is mended twice a second.
 */
const LOOKS: Rate = { burst: 200_000, perSecond: 40_000 }

export function createSyncMemories({
  clock,
  log,
  mostWatches = MOST_WATCHES,
  repairs = REPAIRS,
}: SyncMemoriesOptions): SyncMemories {
  const watches = createWatches({ clock, log, most: mostWatches })
  const looks = createBuckets(LOOKS, clock)
  const ofRepairs = { usual: createBuckets(repairs, clock), asked: createBuckets(repairs, clock) }
  const memories = new Map<string, SyncMemory>()
  return {
    of(owner, { tenant, rules, ring }) {
      const known = memories.get(owner)
      if (known?.rules === rules) return known
      known?.states.end()
      const memory = {
        states: createWatchedStates({ watches, clock, owner, tenant, looks, ring }),
        fights: createFights(clock),
        rules,
        ring,
        beginWrite: watches.beginWrite,
        admitRepairs: createRepairPace(ofRepairs, tenant),
      }
      memories.set(owner, memory)
      return memory
    },
    end(owner) {
      memories.get(owner)?.states.end()
      memories.delete(owner)
    },
    get watches() {
      return watches.count
    },
    close() {
      for (const { states } of memories.values()) states.end()
      memories.clear()
      watches.close()
    },
  }
}

/**
 * How many objects the syncs of one tenant may set back that were changed in the cluster. Ten thousand objects that were deleted by
 * mistake are there again at once. To set back what somebody goes on changing takes the API server as much as each change, at
 * everybody's cost.
 */
export const REPAIRS: Rate = { burst: 10_000, perSecond: 100 }

/** Chooses, by key, which of the objects that have drifted are set back now. A sync that somebody asks for has as much again. */
type AdmitRepairs = (keys: readonly string[], isAsked: boolean) => ReadonlySet<string>

/** Where not all may be set back, those that waited the longest are: an object that is refused, or changed, each time keeps no other waiting. */
export function createRepairPace({ usual, asked }: Record<'usual' | 'asked', Buckets>, tenant: string): AdmitRepairs {
  /** The pass since which each waits. */
  let waiting = new Map<string, number>()
  let pass = 0
  return (keys, isAsked) => {
    const mayOne = () => usual.take(tenant) === 0 || (isAsked && asked.take(tenant) === 0)
    let room = 0
    while (room < keys.length && mayOne()) room++
    pass++
    const sinceOf = (key: string) => waiting.get(key) ?? pass
    const inOrder = room === keys.length ? keys : [...keys].sort((one, other) => sinceOf(one) - sinceOf(other))
    waiting = new Map(inOrder.slice(room).map((key) => [key, sinceOf(key)]))
    return new Set(inOrder.slice(0, room))
  }
}
