import type { ObjectMeta, Ref } from '../../api/index.ts'
import { titleOf } from './imported.ts'

/** Where Argo CD is, where nothing else is said. */
export const ARGO_NAMESPACE = 'argocd'

/** Labels by which an object says who has applied it: `NAME/name` and `NAME/namespace`. */
const MARKS = [
  ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease'],
  ['fluxcd.controlplane.io', 'FluxInstance'],
  ['resourceset.fluxcd.controlplane.io', 'ResourceSet'],
] as const

const TRACKING = 'argocd.argoproj.io/tracking-id'
const OWN_INSTANCE = 'argocd.argoproj.io/instance'
const INSTANCE = 'app.kubernetes.io/instance'

/**
 * The title of what has made or applied this object, and would put back what is changed of it: its owner, or what its labels name.
 * `applications` are all that were given. https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
 */
export function parentOf(metadata: ObjectMeta, own: string, applications: readonly Ref[]): string | undefined {
  const { ownerReferences = [], labels = {}, namespace = ARGO_NAMESPACE } = metadata
  const [owner] = ownerReferences
  if (owner) return titleOf(owner.kind, { name: owner.name, namespace })
  for (const [mark, kind] of MARKS) {
    const name = labels[`${mark}/name`]
    const title = name && titleOf(kind, { name, namespace: labels[`${mark}/namespace`] ?? namespace })
    // What bootstraps itself has applied itself, too.
    if (title && title !== own) return title
  }
  const found = applicationOf(metadata, own, applications)
  return found === own ? undefined : found
}

function applicationOf(
  { annotations = {}, labels = {} }: ObjectMeta,
  own: string,
  applications: readonly Ref[],
): string | undefined {
  const certain = annotations[TRACKING]?.split(':')[0] ?? labels[OWN_INSTANCE]
  const applied = certain ?? labels[INSTANCE]
  if (applied === undefined) return undefined
  // With Applications in any namespace, `team-a_shop` stands there for `team-a/shop`; those of Argo CD's own namespace have none.
  const [first = '', second] = applied.split('_')
  if (second !== undefined) return titleOf('Application', { name: second, namespace: first })
  const named = applications
    .filter(({ name }) => name === first)
    .map((ref) => titleOf('Application', ref))
    .filter((title) => title !== own)
  const home = titleOf('Application', { name: first, namespace: ARGO_NAMESPACE })
  if (named.length > 0) return named.includes(home) ? home : named[0]
  // Charts put the name of their release there.
  return certain === undefined && labels['app.kubernetes.io/managed-by'] === 'Helm' ? undefined : home
}
