/**
 * Workspaces: claim a target, apply the workspace's objects there with the target's credentials, tell how it fares.
 * Not here: who may open it (engines/access), how a devfile is read (devfile/), how a target comes to be.
 * Read reconcile.ts (the story), then its folders in their order: git/ (the project; gather.ts reads one Secret), actual-state/ and
 * desired/ (both pure), place/ (class, quota, claim and target), project/ (the devfile), pool/, watch/ (what is seen in targets),
 * objects/ (how they get there), backup/, lifetime/ (when it stops and ends), status/ (what is said). None imports one that comes
 * later.
 */
export { workspaces } from './controller.ts'
export type { WorkspaceGitSettings } from './git/index.ts'
export { workspacePools } from './pool/controller.ts'
export type { DevfileSource } from './project/devfile-source.ts'
export { workspaceClasses } from './status/class-status.ts'
export { targetMeter } from './watch/connections.ts'
