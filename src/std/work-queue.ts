import type { Clock } from './clock.ts'

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
  /** Must not reject. `waited`: milliseconds between `add` and the start. */
  work: (key: string, waited: number) => Promise<void>
  /** Keys of one group take turns with the keys of the others, so that a busy group delays nobody else. */
  groupOf: (key: string) => string
}

/** Keys to work on: each at most once at a time, groups in turn, at most `concurrency` at once. */
export function createWorkQueue({ clock, concurrency, work, groupOf }: WorkQueueOptions): WorkQueue {
  /** Waiting keys with the time they were added, by group; the Map's order is the turn. */
  const groups = new Map<string, Map<string, number>>()
  const running = new Map<string, Promise<void>>()
  const repeat = new Set<string>()
  const timers = new Map<string, { at: number; cancel: () => void }>()
  let depth = 0
  let stopped = false

  const next = (): [key: string, since: number] | undefined => {
    const [turn] = groups
    if (!turn) return undefined
    const [group, keys] = turn
    const [first] = keys
    groups.delete(group)
    if (!first) return undefined
    keys.delete(first[0])
    // Behind the others: that is the turn.
    if (keys.size > 0) groups.set(group, keys)
    return first
  }

  const disarm = (key: string) => {
    timers.get(key)?.cancel()
    timers.delete(key)
  }

  const start = (key: string, since: number) => {
    disarm(key)
    const task = work(key, clock.now() - since).finally(() => {
      running.delete(key)
      if (repeat.delete(key)) add(key)
      pump()
    })
    running.set(key, task)
  }

  const pump = () => {
    while (!stopped && running.size < concurrency) {
      const found = next()
      if (!found) return
      depth--
      start(...found)
    }
  }

  const add = (key: string) => {
    if (stopped) return
    if (running.has(key)) {
      repeat.add(key)
      return
    }
    const group = groupOf(key)
    const keys = groups.get(group) ?? new Map<string, number>()
    if (keys.has(key)) return
    keys.set(key, clock.now())
    groups.set(group, keys)
    depth++
    pump()
  }

  return {
    add,
    addAfter(key, ms) {
      if (stopped) return
      const at = clock.now() + ms
      const armed = timers.get(key)
      if (armed && armed.at <= at) return
      armed?.cancel()
      const ring = () => {
        timers.delete(key)
        add(key)
      }
      timers.set(key, { at, cancel: clock.after(ms, ring) })
    },
    get depth() {
      return depth
    },
    async stop() {
      stopped = true
      for (const key of [...timers.keys()]) disarm(key)
      groups.clear()
      depth = 0
      await Promise.all(running.values())
    },
  }
}
