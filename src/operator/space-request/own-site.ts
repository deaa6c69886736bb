import { requestToken } from '../../adapters/kube/index.ts'
import { ConfigMaps, Namespaces, ServiceAccounts } from '../../api/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import type { AgentAccess } from './agent-site.ts'
import { serviceAccountOf } from './desired.ts'
import { ownEntry } from './entry.ts'
import { createPieces, OF_SPACES } from './pieces.ts'
import type { Site } from './site.ts'
import { secondsOf } from './token.ts'

/** How tenants reach this cluster, where that differs from how the operator does. */
export interface SpaceSettings {
  /** URL of the API server as seen from outside. */
  server?: string | undefined
  /** PEM. Without it the one that the cluster publishes. */
  certificateAuthority?: string | undefined
  /** The way to the clusters of agents; without it there are none. */
  agents?: AgentAccess | undefined
  /** For development only. */
  insecureSkipTLSVerify?: boolean | undefined
}

/** Every cluster publishes there the certificate authority of its API server. */
const ROOT_CA = { name: 'kube-root-ca.crt', namespace: 'kube-public' } as const
/** By name, so that the right to read one public object is enough. */
export const ROOT_CA_WATCH = { namespace: ROOT_CA.namespace, fields: `metadata.name=${ROOT_CA.name}` } as const

/** The cluster that the operator itself runs for: members show tokens of their space's own service account. */
export function ownSite(context: ControllerContext, settings: SpaceSettings): Site {
  const { kube, caches } = context
  const accounts = caches.of(ServiceAccounts, { ...OF_SPACES, metadataOnly: true })
  const certificates = caches.of(ConfigMaps, ROOT_CA_WATCH)
  return {
    kube,
    namespaces: caches.of(Namespaces, { ...OF_SPACES, metadataOnly: true }),
    pieces: createPieces(context, kube, caches, { hasBerth: async () => true, entry: ownEntry(context) }),
    endpoint() {
      const pem = settings.certificateAuthority ?? certificates.get(ROOT_CA)?.data?.['ca.crt'] ?? ''
      return {
        server: settings.server || kube.server,
        certificateAuthority: Buffer.from(pem, 'utf8').toString('base64'),
        insecureSkipTLSVerify: settings.insecureSkipTLSVerify ?? false,
      }
    },
    issue: ({ namespace, tier }) =>
      requestToken(kube, { namespace, name: serviceAccountOf(tier) }, { seconds: secondsOf(tier.tokenLifetime) }),
    accountUid: ({ namespace, tier }) => accounts.get({ name: serviceAccountOf(tier), namespace })?.metadata.uid,
    accountIn: (namespace) => accounts.in(namespace)[0],
  }
}
