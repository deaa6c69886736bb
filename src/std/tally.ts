/** Sums by key. A key whose sum is nothing takes no memory. */
export interface Tally {
  /** Of all keys. */
  readonly sum: number
  of(key: string): number
  /** Gives the new sum of the key. */
  add(key: string, amount: number): number
}

export function createTally(): Tally {
  const sums = new Map<string, number>()
  let all = 0
  const of = (key: string) => sums.get(key) ?? 0
  return {
    get sum() {
      return all
    },
    of,
    add(key, amount) {
      all += amount
      const sum = of(key) + amount
      if (sum > 0) sums.set(key, sum)
      else sums.delete(key)
      return sum
    },
  }
}
