import { type CoreSecret, labels, type Ref, Secrets, secretTypes } from '../../api/index.ts'
import type { Caches } from './caches.ts'

/** Where the Secrets with credentials of targets are seen: beside the targets, and, of private ones, in their spaces. */
export const OF_TARGETS = [
  ...Object.values(secretTypes).map((type) => ({ fields: `type=${type}` })),
  { labels: labels.spaceRequestUid, everywhere: true },
]

/** Finds such a Secret. One of another type counts as none. */
export function targetSecrets(caches: Caches): (ref: Ref) => CoreSecret | undefined {
  const secrets = OF_TARGETS.map((options) => caches.of(Secrets, options))
  return (ref) => secrets.map((cache) => cache.get(ref)).find((secret) => secret !== undefined)
}
