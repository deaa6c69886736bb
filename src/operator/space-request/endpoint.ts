import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { ConfigMap } from '../../api/index.ts'
import type { AgentAccess } from './agent-site.ts'
import type { Endpoint } from './kubeconfig.ts'

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

/** Where every cluster publishes the certificate authority of its API server. */
const ROOT_CA = { name: 'kube-root-ca.crt', namespace: 'kube-public' } as const
/** By name, so that the right to read one public object is enough. */
export const ROOT_CA_WATCH = { namespace: ROOT_CA.namespace, fields: `metadata.name=${ROOT_CA.name}` } as const
const ROOT_CA_KEY = 'ca.crt'

export function endpointOf(kube: Kube, settings: SpaceSettings, published: Cache<ConfigMap>): Endpoint {
  const pem = settings.certificateAuthority ?? published.get(ROOT_CA)?.data?.[ROOT_CA_KEY] ?? ''
  return {
    server: settings.server || kube.server,
    certificateAuthority: Buffer.from(pem, 'utf8').toString('base64'),
    insecureSkipTLSVerify: settings.insecureSkipTLSVerify ?? false,
  }
}
