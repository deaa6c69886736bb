/**
 * GitOpsDeployments: from a commit that kas streams, through engines/gitops, to a destination reached as the tenant.
 * Not here: how things are rendered and applied (engines/gitops), and how the destination came to be (operator/environment).
 * Read reconcile.ts first (the guards), then bring-about.ts (one pass), following.ts (the commits), targets.ts (the way in),
 * hand-over.ts, status.ts, removal.ts, sync-run.ts, dry-run.ts.
 */
export { type GitOpsSettings, gitopsDeployments } from './controller.ts'
export { dryRuns } from './dry-run.ts'
export type { Source } from './following.ts'
export { type GitOpsMeter, gitopsMeter } from './meter.ts'
export { syncRuns } from './sync-run.ts'
