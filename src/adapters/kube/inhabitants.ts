/** What may be in a namespace: kinds that objects there can have, and which of these are nobody's. */
import type { Kind, KubeObject } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { type DiscoveredVersion, discoveredGroups } from './aggregated-discovery.ts'
import type { Kube } from './kube.ts'

/** Kubernetes puts these into every namespace, or makes them from others that count themselves. */
const EVERYWHERE = new Set(['ServiceAccount/default', 'ConfigMap/kube-root-ca.crt', 'ConfigMap/openshift-service-ca.crt'])
const DERIVED = new Set(['Event', 'Endpoints', 'EndpointSlice', 'PodMetrics'])
const TOKEN_OF = 'kubernetes.io/service-account.name'

/** Nobody's own: of Kubernetes, or one that goes with its owner and counts where the owner does. */
export const isOrdinary = ({ kind, metadata: { name, ownerReferences, annotations } }: KubeObject): boolean =>
  (ownerReferences?.length ?? 0) > 0 ||
  DERIVED.has(kind) ||
  EVERYWHERE.has(`${kind}/${name}`) ||
  (kind === 'Secret' && annotations?.[TOKEN_OF] !== undefined)

/** There is nothing to see where a kind has gone since the server named it, and its objects before it. */
export async function unlessGone(look: () => Promise<void>): Promise<void> {
  try {
    await look()
  } catch (thrown) {
    if (!isFailure(thrown, 'not-found')) throw thrown
  }
}

/** Every namespaced kind of which objects can be listed, once each, in two requests. */
export async function listableKinds(kube: Pick<Kube, 'read'>, signal?: AbortSignal): Promise<Kind[]> {
  const kinds: Kind[] = []
  for (const { group, versions } of await discoveredGroups(kube, signal)) {
    // A kind may be served in a later version only.
    const found = versions.flatMap((version) => kindsIn(group, version))
    kinds.push(...new Map(found.toReversed().map((each) => [each.plural, each])).values())
  }
  return kinds
}

function kindsIn(group: string, { version, freshness, resources }: DiscoveredVersion): Kind[] {
  if (freshness === 'Stale') throw new Failure('unavailable', `the API group ${group} does not answer`)
  return resources
    .filter(({ scope, verbs }) => scope === 'Namespaced' && verbs.includes('list'))
    .flatMap(({ resource, responseKind }) =>
      responseKind ? [{ group, version, kind: responseKind.kind, plural: resource, namespaced: true }] : [],
    )
}
