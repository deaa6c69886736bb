import {
  byClaimUid,
  type DeploymentTarget,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  type Ref,
  refOf,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import type { Controller, ControllerContext } from '../../../engines/controller/index.ts'
import { MANAGER, reclaim } from './reconcile.ts'

/** Frees what is behind the targets that the devsandbox provisioner made. */
export function sandboxReclaim(context: ControllerContext): Controller<DeploymentTarget> {
  const { caches } = context
  const targets = caches.of(DeploymentTargets)
  const services = {
    context,
    classes: caches.of(DeploymentTargetClasses),
    requests: caches.of(SpaceRequests),
  }
  const ofRequest = ({ metadata }: SpaceRequest): Ref[] => {
    const { labels: marks = {}, namespace } = metadata
    const name = marks[labels.target]
    const named = name === undefined ? [] : [{ name, namespace }]
    return [...named, ...targets.by(byClaimUid, marks[labels.claimUid] ?? 'none').map(refOf)]
  }
  return {
    name: MANAGER,
    kind: DeploymentTargets,
    watches: [{ kind: SpaceRequests, wakes: ofRequest }],
    reconcile: (target) => reclaim(target, services),
  }
}
