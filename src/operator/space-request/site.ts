import type { Cache, Caches, Kube } from '../../adapters/kube/index.ts'
import { ConfigMaps, type KubeObject, type Namespace, Namespaces, ServiceAccounts, type TokenRequest } from '../../api/index.ts'
import type { Workshop } from '../../engines/controller/index.ts'
import { Failure, Secret } from '../../std/index.ts'
import { type Space, serviceAccountOf } from './desired.ts'
import { endpointOf, ROOT_CA_WATCH, type SpaceSettings } from './endpoint.ts'
import type { Endpoint } from './kubeconfig.ts'
import { byRequest } from './namespace.ts'
import { createPieces, OF_SPACES, type Pieces } from './pieces.ts'
import { secondsOf } from './token-lifetime.ts'

/** A cluster in which spaces are made: the operator's own, or another that it reaches. */
export interface Site {
  kube: Kube
  caches: Caches
  /** Of spaces, with the index `byRequest`. */
  namespaces: Cache<Namespace>
  pieces: Pieces
  /** How the members of a space reach it. */
  endpoint(): Endpoint
  /** A token for the members, valid as long as the tier says. */
  issue(space: Space): Promise<Secret<string>>
  /** The UID of the service account that such a token is bound to, as far as it is known. */
  accountUid(space: Pick<Space, 'namespace' | 'tier'>): string | undefined
  /** The service account of a space that was made before. */
  accountIn(namespace: string): KubeObject | undefined
}

/** The cluster that the operator itself runs for: members show tokens of their space's own service account. */
export function ownSite(workshop: Workshop, settings: SpaceSettings): Site {
  const { kube, caches } = workshop
  const accounts = caches.of(ServiceAccounts, { ...OF_SPACES, metadataOnly: true })
  const certificates = caches.of(ConfigMaps, ROOT_CA_WATCH)
  return {
    kube,
    caches,
    namespaces: caches.of(Namespaces, { ...OF_SPACES, metadataOnly: true, indexes: byRequest }),
    pieces: createPieces(workshop, kube, caches),
    endpoint: () => endpointOf(kube, settings, certificates),
    issue: ({ namespace, tier }) =>
      requestToken(kube, { namespace, name: serviceAccountOf(tier) }, secondsOf(tier.tokenLifetime)),
    accountUid: ({ namespace, tier }) => accounts.get({ name: serviceAccountOf(tier), namespace })?.metadata.uid,
    accountIn: (namespace) => accounts.in(namespace)[0],
  }
}

/** A bound token of a service account, from the API server that knows it. */
export async function requestToken(
  kube: Kube,
  { namespace, name }: { namespace: string; name: string },
  expirationSeconds: number,
  audiences?: string[],
): Promise<Secret<string>> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${encodeURIComponent(name)}/token`
  const answer = await kube.post<TokenRequest>(path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds, ...(audiences && { audiences }) },
  })
  if (answer.status) return new Secret(answer.status.token)
  throw new Failure('unavailable', `the API server issued no token for ServiceAccount ${namespace}/${name}`)
}
