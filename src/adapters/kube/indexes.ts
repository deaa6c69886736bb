import type { Index } from '../../api/index.ts'

/** Keys of objects by the values that indexes give for them. */
export interface Indexes<T> {
  keys(index: Index<T>, value: string): Iterable<string>
  /** An object is there, in the place of another one of the key, or there no more. */
  replace(key: string, before: T | undefined, now: T | undefined): void
}

/** Keys by value. */
type Buckets = Map<string, Set<string>>

/** Each index is made of the objects that are there when somebody asks by it for the first time, and kept from then on. */
export function createIndexes<T>(objects: ReadonlyMap<string, T>): Indexes<T> {
  const indexes = new Map<Index<T>, Buckets>()
  const bucketsOf = (index: Index<T>): Buckets => {
    const known = indexes.get(index)
    if (known) return known
    const buckets: Buckets = new Map()
    indexes.set(index, buckets)
    for (const [key, object] of objects) fill(buckets, key, index.of(object))
    return buckets
  }
  return {
    keys: (index, value) => bucketsOf(index).get(value) ?? [],
    replace(key, before, now) {
      for (const [{ of }, buckets] of indexes) {
        if (before) empty(buckets, key, of(before))
        if (now) fill(buckets, key, of(now))
      }
    },
  }
}

function fill(buckets: Buckets, key: string, values: readonly string[]): void {
  for (const value of values) {
    const bucket = buckets.get(value)
    if (bucket) bucket.add(key)
    else buckets.set(value, new Set([key]))
  }
}

function empty(buckets: Buckets, key: string, values: readonly string[]): void {
  for (const value of values) {
    const bucket = buckets.get(value)
    bucket?.delete(key)
    if (bucket?.size === 0) buckets.delete(value)
  }
}
