/** Keys that wait, in groups that take turns: a group with a thousand keys delays another with one key by one turn. */
export interface Turns {
  /** false when the key waits already; it keeps its place and its time. */
  add(key: string, group: string, since: number): boolean
  /** The first key of the group whose turn it is, with the time it was added. */
  take(): [key: string, since: number] | undefined
  readonly size: number
  clear(): void
}

export function createTurns(): Turns {
  /** The order of the Map is the order of the turns. */
  const groups = new Map<string, Map<string, number>>()
  let size = 0

  return {
    add(key, group, since) {
      const keys = groups.get(group) ?? new Map<string, number>()
      if (keys.has(key)) return false
      keys.set(key, since)
      groups.set(group, keys)
      size++
      return true
    },
    take() {
      const [turn] = groups
      if (!turn) return
      const [group, keys] = turn
      const [first] = keys
      groups.delete(group)
      if (!first) return
      keys.delete(first[0])
      // Behind the others: that is the turn.
      if (keys.size > 0) groups.set(group, keys)
      size--
      return first
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
