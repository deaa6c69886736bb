import { type AnyObject, groupOf } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'

/** Kinds by which Argo CD, Flux and the operator of Flux apply others: with their objects goes what those have applied. */
export const FOLLOWERS: readonly string[] = [
  'argoproj.io/Application',
  'argoproj.io/ApplicationSet',
  'kustomize.toolkit.fluxcd.io/Kustomization',
  'helm.toolkit.fluxcd.io/HelmRelease',
  'fluxcd.controlplane.io/FluxInstance',
  'fluxcd.controlplane.io/ResourceSet',
]

/**
 * Whether another program deletes what it has applied when it sees this object go, as its finalizer and its spec say.
 * https://argo-cd.readthedocs.io/en/stable/user-guide/app_deletion/ and https://fluxcd.io/flux/components/kustomize/kustomizations/#garbage-collection
 */
export function takesAlong({ apiVersion, kind, metadata: { finalizers = [] }, spec: given }: AnyObject): boolean {
  const spec = isRecord(given) ? given : {}
  switch (`${groupOf(apiVersion)}/${kind}`) {
    case 'argoproj.io/Application':
      return finalizers.some((each) => each.includes('finalizer.argocd.argoproj.io'))
    case 'argoproj.io/ApplicationSet':
      return !(isRecord(spec.syncPolicy) && spec.syncPolicy.preserveResourcesOnDeletion === true)
    case 'kustomize.toolkit.fluxcd.io/Kustomization':
      return finalizers.length > 0 && spec.suspend !== true && deletesByPolicy(spec)
    case 'helm.toolkit.fluxcd.io/HelmRelease':
      return finalizers.length > 0 && spec.suspend !== true
    case 'fluxcd.controlplane.io/FluxInstance':
    case 'fluxcd.controlplane.io/ResourceSet':
      return finalizers.length > 0
    default:
      return false
  }
}

/** By MirrorPrune, which is so without a word, what is pruned goes with it, too. */
const deletesByPolicy = ({ deletionPolicy = 'MirrorPrune', prune }: Record<string, unknown>): boolean =>
  deletionPolicy === 'MirrorPrune' ? prune === true : deletionPolicy !== 'Orphan'
