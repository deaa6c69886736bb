import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  DeploymentTargetClaims,
  DeploymentTargets,
  type Kind,
  labels,
  Namespaces,
  refOf,
  SpaceRequests,
} from '../../src/api/index.ts'

/**
 * What controllers would have cleaned up had they not been stopped: without it the namespace of a test hangs in its deletion
 * for ever, and the namespaces that were made for it stay.
 */
export async function sweep(kube: Kube, namespace: string): Promise<void> {
  const kinds: Kind[] = [DeploymentTargetClaims, DeploymentTargets, SpaceRequests]
  for (const kind of kinds) {
    const held = (await kube.list(kind, { namespace })).filter(({ metadata }) => metadata.finalizers?.length)
    await Promise.all(
      held.map((object) => kube.patch(kind, refOf(object), { metadata: { finalizers: null } }).catch(() => undefined)),
    )
  }
  const spaces = await kube.list(Namespaces, { labels: `${labels.spaceRequestNamespace}=${namespace}` })
  await Promise.all(spaces.map((space) => kube.delete(Namespaces, refOf(space))))
}
