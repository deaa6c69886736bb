/** The newest answers by what was asked. What is asked again and again within moments is worked out once. */
export interface Memory<T> {
  of(asked: string, answer: () => T): T
}

/** Keeps so many, and of them those that were asked for last. */
export function createMemory<T>(most: number): Memory<T> {
  const known = new Map<string, T>()
  return {
    of(asked, answer) {
      const value = known.get(asked) ?? answer()
      known.delete(asked)
      known.set(asked, value)
      const [oldest] = known.keys()
      if (known.size > most && oldest !== undefined) known.delete(oldest)
      return value
    },
  }
}
