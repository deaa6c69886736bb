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
  const { caches } = workshop
  const books: BindingCaches = {
    claims: caches.of(DeploymentTargetClaims),
    targets: caches.of(DeploymentTargets),
    classes: caches.of(DeploymentTargetClasses),
    requests: caches.of(SpaceRequests),
    environments: caches.of(Environments),
  }
  const taken = new Set<string>()
  return {
    name: 'claim-binding',
    kind: DeploymentTargetClaims,
    watches: watchesOf(books),
    reconcile: (claim) => reconcileClaim(claim, { workshop, books, taken }),
    failed: statusAfter,
  }
}
