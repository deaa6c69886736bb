import { labels, Namespaces } from '../../api/index.ts'
import type { Caches } from './caches.ts'

/** The objects in a space are charged to the namespace that asked for the space: one may have a hundred of them. */
export function chargeSpaces({ of, memory }: Caches): void {
  const spaces = of(Namespaces, { labels: labels.spaceRequestUid, everywhere: true, metadataOnly: true })
  spaces.onChange((now, before) => {
    const { name = '' } = (now ?? before)?.metadata ?? {}
    memory.chargeTo(name, now?.metadata.labels?.[labels.spaceRequestNamespace])
  })
}
