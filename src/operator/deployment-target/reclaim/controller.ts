import {
  claimKeysOf,
  type DeploymentTarget,
  DeploymentTargetClasses,
  DeploymentTargets,
  keyOf,
  labels,
  type Ref,
  refOf,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import type { Controller, Workshop } from '../../../engines/controller/index.ts'
import { MANAGER, reclaim } from './reconcile.ts'

/** Frees what is behind the targets that the devsandbox provisioner made. */
export function sandboxReclaim(workshop: Workshop): Controller<DeploymentTarget> {
  const { caches } = workshop
  const targetKeys = ({ metadata }: SpaceRequest): string[] => {
    const name = metadata.labels?.[labels.target]
    return name === undefined ? [] : [keyOf({ name, namespace: metadata.namespace })]
  }
  const claimUidOf = ({ metadata }: DeploymentTarget): string[] => {
    const uid = metadata.labels?.[labels.claimUid]
    return uid === undefined ? [] : [uid]
  }
  const targets = caches.of(DeploymentTargets, { indexes: { ofClaim: claimUidOf } })
  const desk = {
    workshop,
    classes: caches.of(DeploymentTargetClasses),
    requests: caches.of(SpaceRequests, { indexes: { claim: claimKeysOf, targetName: targetKeys } }),
  }
  const ofRequest = ({ metadata }: SpaceRequest): Ref[] => {
    const { labels: marks = {}, namespace } = metadata
    const name = marks[labels.target]
    const named = name === undefined ? [] : [{ name, namespace }]
    return [...named, ...targets.by('ofClaim', marks[labels.claimUid] ?? 'none').map(refOf)]
  }
  return {
    name: MANAGER,
    kind: DeploymentTargets,
    watches: [{ kind: SpaceRequests, wakes: ofRequest }],
    reconcile: (target) => reclaim(target, desk),
  }
}
