import { type Cache, type Caches, type CacheWiring, createCaches } from '../adapters/kube/index.ts'
import { type Kind, type KubeObject, keyOf } from '../api/index.ts'
import { seconds, within } from '../std/index.ts'

/** Watches that all viewers share, begun when somebody looks for the first time. */
export interface Library {
  /** Throws `timeout` while the first list is missing. */
  of<T extends KubeObject>(kind: Kind<T>): Promise<Cache<T>>
  stop(): Promise<void>
}

const LISTED_WITHIN = seconds(10)

/** Each kind by itself: where one may not be listed, the others are there nevertheless. */
export function createLibrary(wiring: CacheWiring): Library {
  const shelves = new Map<string, Caches>()
  return {
    async of<T extends KubeObject>(kind: Kind<T>) {
      const key = keyOf({ namespace: kind.group, name: kind.plural })
      const shelf = shelves.get(key) ?? createCaches(wiring)
      shelves.set(key, shelf)
      const cache = shelf.of(kind)
      await within(LISTED_WITHIN, new AbortController().signal, (signal) => shelf.ready(signal))
      return cache
    },
    async stop() {
      await Promise.all([...shelves.values()].map((shelf) => shelf.stop()))
    },
  }
}
