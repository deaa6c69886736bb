import { type Cache, type Caches, type CacheWiring, createCaches } from '../adapters/kube/index.ts'
import { type Kind, type KubeObject, keyOf } from '../api/index.ts'
import { seconds, within } from '../std/index.ts'

export type SharedCaches = ReturnType<typeof createSharedCaches>

const LISTED_WITHIN = seconds(10)

/**
 * Caches that all viewers share, begun when somebody looks for the first time. Each kind is by itself: where one may not be listed, the
 * others are there nevertheless.
 */
export function createSharedCaches(wiring: CacheWiring) {
  const byKind = new Map<string, Caches>()
  return {
    /** Throws `timeout` while the first list is missing. */
    async of<T extends KubeObject>(kind: Kind<T>): Promise<Cache<T>> {
      const key = keyOf({ namespace: kind.group, name: kind.plural })
      const caches = byKind.get(key) ?? createCaches(wiring)
      byKind.set(key, caches)
      const cache = caches.of(kind)
      await within(LISTED_WITHIN, undefined, (signal) => caches.ready(signal))
      return cache
    },
    async stop() {
      await Promise.all([...byKind.values()].map((caches) => caches.stop()))
    },
  }
}
