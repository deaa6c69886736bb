import type { Cache } from '../../../adapters/kube/index.ts'
import {
  byClaim,
  byUid,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  indexBy,
  labels,
  type Ref,
  refFromKey,
  refOf,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import type { Controller, ControllerContext } from '../../../engines/controller/index.ts'
import { MANAGER, provision } from './reconcile.ts'

const byClass = indexBy(({ spec }: DeploymentTargetClaim) => [spec.deploymentTargetClassName])

/** The provisioners that make namespaces, in this cluster or in an agent's: they answer claims with SpaceRequests. */
export function sandboxProvisioning(context: ControllerContext): Controller<DeploymentTargetClaim> {
  const { caches } = context
  const claims = caches.of(DeploymentTargetClaims)
  const provisioning = {
    context,
    classes: caches.of(DeploymentTargetClasses),
    requests: caches.of(SpaceRequests),
    targets: caches.of(DeploymentTargets),
  }
  return {
    name: MANAGER,
    kind: DeploymentTargetClaims,
    watches: [
      { kind: DeploymentTargetClasses, wakes: ({ metadata }) => claims.by(byClass, metadata.name).map(refOf) },
      { kind: SpaceRequests, wakes: (request: SpaceRequest) => claimOf(request, claims) },
    ],
    reconcile: (claim) => provision(claim, provisioning),
  }
}

function claimOf(request: SpaceRequest, claims: Cache<DeploymentTargetClaim>): Ref[] {
  const uid = request.metadata.labels?.[labels.claimUid]
  return uid === undefined ? byClaim.of(request).map(refFromKey) : claims.by(byUid, uid).map(refOf)
}
