/**
 * Workspaces: claim a target, apply the workspace's objects there with the target's credentials, tell how it fares.
 * Not here: who may open it (engines/access), how a devfile is read (devfile/), how a target comes to be.
 * Read reconcile.ts (the story), desired/ (what should be), actual-state/ and status.ts (what is said), variables.ts,
 * target.ts and target-watch.ts (the way there), clean-up.ts (the end).
 */
export { workspacePools } from './care/pool/controller.ts'
export { workspaceClasses } from './class-status.ts'
export { workspaces } from './controller.ts'
export type { DevfileSource } from './devfile-source.ts'
export type { GitSettings } from './git/index.ts'
export { targetMeter } from './meter.ts'
