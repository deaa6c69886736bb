import { requestToken } from '../../adapters/kube/index.ts'
import { ConfigMaps, Namespaces, ServiceAccounts } from '../../api/index.ts'
import type { Workshop } from '../../engines/controller/index.ts'
import { serviceAccountOf, withoutBerth } from './desired.ts'
import { endpointOf, ROOT_CA_WATCH, type SpaceSettings } from './endpoint.ts'
import { ownEntry } from './entry.ts'
import { createPieces, OF_SPACES } from './pieces.ts'
import type { Site } from './site.ts'
import { secondsOf } from './token-lifetime.ts'

/** The cluster that the operator itself runs for: members show tokens of their space's own service account. */
export function ownSite(workshop: Workshop, settings: SpaceSettings): Site {
  const { kube, caches } = workshop
  const accounts = caches.of(ServiceAccounts, { ...OF_SPACES, metadataOnly: true })
  const certificates = caches.of(ConfigMaps, ROOT_CA_WATCH)
  return {
    kube,
    namespaces: caches.of(Namespaces, { ...OF_SPACES, metadataOnly: true }),
    pieces: createPieces(workshop, kube, caches, { nameRole: withoutBerth, entry: ownEntry(workshop) }),
    endpoint: () => endpointOf(kube, settings, certificates),
    issue: ({ namespace, tier }) =>
      requestToken(kube, { namespace, name: serviceAccountOf(tier) }, { seconds: secondsOf(tier.tokenLifetime) }),
    accountUid: ({ namespace, tier }) => accounts.get({ name: serviceAccountOf(tier), namespace })?.metadata.uid,
    accountIn: (namespace) => accounts.in(namespace)[0],
  }
}
