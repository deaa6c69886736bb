import { type CoreSecret, labels, type Ref, Secrets, secretTypes } from '../../api/index.ts'
import type { CacheOptions, Caches } from './caches.ts'

/** Secrets of the types that can hold a kubeconfig; of others, none is kept in memory. */
export const OF_KUBECONFIGS = Object.values(secretTypes).map((type) => ({ fields: `type=${type}` }))

/** Secrets with credentials lie beside their targets, and, of private ones, in the namespace of Berth's credentials. */
export const OF_TARGETS = [...OF_KUBECONFIGS, { labels: labels.spaceRequestUid, everywhere: true }]

/** Finds a Secret that is in one of these caches. Any other counts as none. */
export function secretFinder(caches: Caches, scopes: readonly CacheOptions[]): (ref: Ref) => CoreSecret | undefined {
  const secrets = scopes.map((options) => caches.of(Secrets, options))
  return (ref) => secrets.map((cache) => cache.get(ref)).find((secret) => secret !== undefined)
}

/** Watches on the Secrets that are in these caches. */
export const secretWatches = <S extends CacheOptions>(scopes: readonly S[], wakes: (secret: CoreSecret) => Ref[]) =>
  scopes.map((options) => ({ kind: Secrets, ...options, wakes }))
