/**
 * GitOpsDeployments: from a commit that kas streams, through engines/gitops, to a destination reached as the tenant.
 * Not here: how things are rendered and applied (engines/gitops), and how the destination came to be (operator/environment).
 * Read reconcile.ts first (the guards), then pass/sync-commit.ts (one pass). source/ has the commits, schedule/ when one may be
 * applied, watch/ the objects that wake a deployment, services/ the destination and what a pass works with, status/ all that is told,
 * runs/ the SyncRuns, removal/ the end, notify/ the way to Git hosts.
 */
export { gitopsDeployments } from './controller.ts'
export { dryRuns } from './runs/dry-run.ts'
export { syncRuns } from './runs/sync-run.ts'
export { type GitOpsMeter, gitopsMeter } from './services/meter.ts'
export type { GitOpsSettings } from './services/services.ts'
export type { Source } from './source/following.ts'
