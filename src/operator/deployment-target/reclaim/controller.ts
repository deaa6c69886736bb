import {
  byClaimUid,
  type DeploymentTarget,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  type Ref,
  refOf,
  refsBeside,
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
  const ofRequest = (request: SpaceRequest): Ref[] => {
    const { labels: marks = {} } = request.metadata
    return [...refsBeside(request, marks[labels.target]), ...targets.by(byClaimUid, marks[labels.claimUid] ?? 'none').map(refOf)]
  }
  return {
    name: MANAGER,
    kind: DeploymentTargets,
    watches: [{ kind: SpaceRequests, wakes: ofRequest }],
    reconcile: (target) => reclaim(target, services),
  }
}
