import type { Clock } from './clock.ts'
import { createTally } from './tally.ts'

export interface WorkQueue {
  /** As soon as there is room. A key that waits already waits once; one that is being worked on is done again afterwards. */
  add(key: string): void
  /** After so many milliseconds, unless it is worked on before: each piece of work says anew when it wants to be done again. */
  addAfter(key: string, ms: number): void
  /** Keys that wait for room (not those that wait for their time). */
  readonly depth: number
  /** Takes nothing new and resolves when what runs is done. */
  stop(): Promise<void>
}

export interface WorkQueueOptions {
  clock: Clock
  concurrency: number
  /** How many keys of one group are worked on at once; without it only `concurrency` counts. */
  each?: number
  /** Must not reject. `waited`: milliseconds between `add` and the start. */
  work: (key: string, waited: number) => Promise<void>
  /** Keys of one group take turns with the keys of the others, so that a busy group delays nobody else. */
  groupOf: (key: string) => string
}

/** Keys to work on: each at most once at a time, groups in turn, at most `concurrency` at once. */
export function createWorkQueue({ clock, concurrency, each = concurrency, work, groupOf }: WorkQueueOptions): WorkQueue {
  const waiting = createTurns()
  const alarms = createAlarms(clock)
  const running = new Map<string, Promise<void>>()
  const busy = createTally()
  const repeat = new Set<string>()
  let stopped = false

  const start = (key: string, since: number) => {
    alarms.cancel(key)
    // Before the work begins: what it adds in its first breath must find it running.
    const { promise, resolve } = Promise.withResolvers<void>()
    running.set(key, promise)
    const group = groupOf(key)
    busy.add(group, 1)
    void work(key, clock.now() - since).finally(() => {
      running.delete(key)
      busy.add(group, -1)
      resolve()
      if (repeat.delete(key)) add(key)
      pump()
    })
  }
  const pump = () => {
    while (!stopped && running.size < concurrency) {
      const next = waiting.take((group) => busy.of(group) < each)
      if (!next) return
      start(...next)
    }
  }
  const add = (key: string) => {
    if (stopped) return
    if (running.has(key)) repeat.add(key)
    else if (waiting.add(key, groupOf(key), clock.now())) pump()
  }

  return {
    add,
    addAfter(key, ms) {
      if (!stopped) alarms.set(key, ms, () => add(key))
    },
    get depth() {
      return waiting.size
    },
    async stop() {
      stopped = true
      alarms.cancelAll()
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}

/** One alarm a key; of two times the earlier one stays. */
function createAlarms(clock: Clock) {
  const set = new Map<string, { at: number; cancel: () => void }>()
  const cancel = (key: string) => {
    set.get(key)?.cancel()
    set.delete(key)
  }
  return {
    cancel,
    set(key: string, ms: number, ring: () => void) {
      const at = clock.now() + ms
      const earlier = set.get(key)
      if (earlier && earlier.at <= at) return
      earlier?.cancel()
      const due = () => {
        set.delete(key)
        ring()
      }
      set.set(key, { at, cancel: clock.after(ms, due) })
    },
    cancelAll() {
      for (const key of [...set.keys()]) cancel(key)
    },
  }
}

/** Keys that wait, in groups that take turns: a group with a thousand keys delays another with one key by one turn. */
function createTurns() {
  /** The order of the Map is the order of the turns. */
  const groups = new Map<string, Map<string, number>>()
  let size = 0

  return {
    /** false when the key waits already; it keeps its place and its time. */
    add(key: string, group: string, since: number): boolean {
      const keys = groups.get(group) ?? new Map<string, number>()
      if (keys.has(key)) return false
      keys.set(key, since)
      groups.set(group, keys)
      size++
      return true
    },
    /** The first key of the group whose turn it is, of those that have room, with the time it was added. */
    take(hasRoom: (group: string) => boolean): [key: string, since: number] | undefined {
      for (const [group, keys] of groups) {
        const [first] = keys
        if (!first || !hasRoom(group)) continue
        keys.delete(first[0])
        groups.delete(group)
        // Behind the others: that is the turn.
        if (keys.size > 0) groups.set(group, keys)
        size--
        return first
      }
      return undefined
    },
    get size() {
      return size
    },
    clear() {
      groups.clear()
      size = 0
    },
  }
}
