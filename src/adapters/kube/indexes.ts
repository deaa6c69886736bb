import type { KubeObject } from '../../api/index.ts'

export type IndexFunctions<T> = Record<string, (object: T) => string[]>

/** Keys of objects by the values that index functions give for them. */
export interface Indexes<T> {
  has(name: string): boolean
  /** For the objects that are there, too. One that is there by that name stays. */
  add(name: string, of: (object: T) => string[], there: Iterable<[key: string, object: T]>): void
  keys(name: string, value: string): Iterable<string>
  /** Every index and value of an object. */
  entriesOf(object: T): Iterable<[name: string, value: string]>
  /** An object is there, in the place of another one of the key, or there no more. */
  replace(key: string, before: T | undefined, now: T | undefined): void
}

interface Index<T> {
  of: (object: T) => string[]
  buckets: Map<string, Set<string>>
}

export function createIndexes<T extends KubeObject>(): Indexes<T> {
  const indexes = new Map<string, Index<T>>()
  return {
    has: (name) => indexes.has(name),
    add(name, of, there) {
      if (indexes.has(name)) return
      const index: Index<T> = { of, buckets: new Map() }
      indexes.set(name, index)
      for (const [key, object] of there) fill(index, key, object)
    },
    keys: (name, value) => indexes.get(name)?.buckets.get(value) ?? [],
    *entriesOf(object) {
      for (const [name, { of }] of indexes) for (const value of of(object)) yield [name, value]
    },
    replace(key, before, now) {
      for (const index of indexes.values()) {
        if (before) empty(index, key, before)
        if (now) fill(index, key, now)
      }
    },
  }
}

function fill<T>({ of, buckets }: Index<T>, key: string, object: T): void {
  for (const value of of(object)) {
    const bucket = buckets.get(value)
    if (bucket) bucket.add(key)
    else buckets.set(value, new Set([key]))
  }
}

function empty<T>({ of, buckets }: Index<T>, key: string, object: T): void {
  for (const value of of(object)) {
    const bucket = buckets.get(value)
    bucket?.delete(key)
    if (bucket?.size === 0) buckets.delete(value)
  }
}
