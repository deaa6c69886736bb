import type { Cache } from '../../../adapters/kube/index.ts'
import {
  claimKeysOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  labels,
  type Ref,
  refFromKey,
  refOf,
  type SpaceRequest,
  SpaceRequests,
} from '../../../api/index.ts'
import type { Controller, Workshop } from '../../../engines/controller/index.ts'
import { MANAGER, provision } from './reconcile.ts'

/** The provisioners that make namespaces, in this cluster or in an agent's: they answer claims with SpaceRequests. */
export function sandboxProvisioning(workshop: Workshop): Controller<DeploymentTargetClaim> {
  const { caches } = workshop
  const claims = caches.of(DeploymentTargetClaims, {
    indexes: {
      className: ({ spec }) => [spec.deploymentTargetClassName],
      uid: ({ metadata }) => [metadata.uid ?? ''],
    },
  })
  const provisioning = {
    workshop,
    classes: caches.of(DeploymentTargetClasses),
    requests: caches.of(SpaceRequests, { indexes: { claim: claimKeysOf } }),
  }
  return {
    name: MANAGER,
    kind: DeploymentTargetClaims,
    watches: [
      { kind: DeploymentTargetClasses, wakes: ({ metadata }) => claims.by('className', metadata.name).map(refOf) },
      { kind: SpaceRequests, wakes: (request: SpaceRequest) => claimOf(request, claims) },
    ],
    reconcile: (claim) => provision(claim, provisioning),
  }
}

function claimOf(request: SpaceRequest, claims: Cache<DeploymentTargetClaim>): Ref[] {
  const uid = request.metadata.labels?.[labels.claimUid]
  return uid === undefined ? claimKeysOf(request).map(refFromKey) : claims.by('uid', uid).map(refOf)
}
