import { Failure } from '../../std/index.ts'
import type { Kube } from './kube.ts'

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery */
interface Discovered {
  kind: string
  items?: { metadata: { name?: string }; versions: DiscoveredVersion[] }[]
}

export interface DiscoveredVersion {
  version: string
  freshness?: string
  resources: { resource: string; scope: string; verbs: string[]; responseKind?: { kind: string } }[]
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** All that a server serves, group by group, in two requests. In each group the preferred version comes first. */
export async function discoveredGroups(kube: Pick<Kube, 'read'>, signal?: AbortSignal) {
  const groups: { group: string; versions: readonly DiscoveredVersion[] }[] = []
  for (const path of ['/api', '/apis']) {
    const { kind, items = [] } = await kube.read<Discovered>(path, { accept: AGGREGATED, signal })
    if (kind !== 'APIGroupDiscoveryList') throw new Failure('unavailable', 'the server does not list its kinds')
    for (const { metadata, versions } of items) groups.push({ group: metadata.name ?? '', versions })
  }
  return groups
}

/**
 * What Helm calls the capabilities of a cluster: its version, and each `group/version` and `group/version/Kind` that it serves. A group
 * whose server does not answer just now counts as it was last.
 */
export async function capabilitiesOf(kube: Pick<Kube, 'read'>, signal?: AbortSignal) {
  const { gitVersion } = await kube.read<{ gitVersion: string }>('/version', { signal })
  const apiVersions = new Set<string>()
  for (const { group, versions } of await discoveredGroups(kube, signal))
    for (const { version, resources } of versions) {
      const apiVersion = group === '' ? version : `${group}/${version}`
      apiVersions.add(apiVersion)
      for (const { responseKind } of resources) if (responseKind) apiVersions.add(`${apiVersion}/${responseKind.kind}`)
    }
  return { kubeVersion: gitVersion, apiVersions: [...apiVersions].sort() }
}
