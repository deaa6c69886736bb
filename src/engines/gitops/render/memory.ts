/** Remembers what was made last, up to a total weight; the longest unused goes first. */
export interface Memory<T> {
  get(key: string): T | undefined
  set(key: string, value: T, weight: number): void
}

export function createMemory<T>(most: number): Memory<T> {
  const known = new Map<string, { value: T; weight: number }>()
  let total = 0
  const forget = (key: string) => {
    total -= known.get(key)?.weight ?? 0
    known.delete(key)
  }
  return {
    get(key) {
      const entry = known.get(key)
      if (!entry) return
      known.delete(key)
      known.set(key, entry)
      return entry.value
    },
    set(key, value, weight) {
      forget(key)
      known.set(key, { value, weight })
      total += weight
      for (const oldest of known.keys()) {
        if (total <= most) break
        forget(oldest)
      }
    },
  }
}
