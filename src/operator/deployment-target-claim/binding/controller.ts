import {
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  keyOf,
  SpaceRequests,
  Workspaces,
} from '../../../api/index.ts'
import { type Controller, type ControllerContext, settled } from '../../../engines/controller/index.ts'
import { reconcileClaim } from './reconcile.ts'
import type { BindingCaches } from './situation.ts'
import { statusAfter } from './status.ts'
import { type AskedClaims, createNodeArchs } from './unmet.ts'
import { watchesOf } from './watches.ts'

/** Binds DeploymentTargetClaims to DeploymentTargets (ADR 8: DeploymentTargetBinder). */
export function claimBinding(context: ControllerContext): Controller<DeploymentTargetClaim> {
  const caches: BindingCaches = {
    claims: context.caches.of(DeploymentTargetClaims),
    targets: context.caches.of(DeploymentTargets),
    classes: context.caches.of(DeploymentTargetClasses),
    requests: context.caches.of(SpaceRequests),
    environments: context.caches.of(Environments),
    workspaces: context.caches.of(Workspaces),
  }
  const taken = new Set<string>()
  const asked: AskedClaims = new Map()
  const nodeArchs = createNodeArchs(context.kube, context.clock)
  return {
    name: 'claim-binding',
    kind: DeploymentTargetClaims,
    watches: watchesOf(caches),
    reconcile: (claim) => reconcileClaim(claim, { context, caches, taken, asked, nodeArchs }),
    async gone(ref) {
      asked.delete(keyOf(ref))
      return settled()
    },
    failed: statusAfter,
  }
}
