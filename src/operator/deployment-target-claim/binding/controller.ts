import {
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  SpaceRequests,
} from '../../../api/index.ts'
import type { Controller, Workshop } from '../../../engines/controller/index.ts'
import { reconcileClaim } from './reconcile.ts'
import type { BindingCaches } from './situation.ts'
import { statusAfter } from './status.ts'
import { watchesOf } from './watches.ts'

/** Binds DeploymentTargetClaims to DeploymentTargets (ADR 8: DeploymentTargetBinder). */
export function claimBinding(workshop: Workshop): Controller<DeploymentTargetClaim> {
  const caches: BindingCaches = {
    claims: workshop.caches.of(DeploymentTargetClaims),
    targets: workshop.caches.of(DeploymentTargets),
    classes: workshop.caches.of(DeploymentTargetClasses),
    requests: workshop.caches.of(SpaceRequests),
    environments: workshop.caches.of(Environments),
  }
  const taken = new Set<string>()
  return {
    name: 'claim-binding',
    kind: DeploymentTargetClaims,
    watches: watchesOf(caches),
    reconcile: (claim) => reconcileClaim(claim, { workshop, caches, taken }),
    failed: statusAfter,
  }
}
