/**
 * The objects that a workspace should have in its target: a pure function of workspace, class, devfile and frozen variables.
 * The same input gives the same bytes. Not here: how they get there (objects/apply.ts), and what was frozen (objects/variables.ts).
 * Read plan.ts (what goes in), objects.ts (the whole), pod.ts and containers.ts; then runner.ts and scripts.ts:
 * the commands at events, which are never part of a script; turns.ts: how those of several containers keep their order.
 */
export { AFTER_STOP, afterStopJob, runsAfterStop } from './after-stop.ts'
export { EDITOR, EDITOR_CHECK } from './editor.ts'
export { withPresetImage } from './editor-presets.ts'
export {
  desiredBeside,
  desiredObjects,
  haveSamePieces,
  makesPod,
  objectListFrameOf,
  PLAN_DIGEST,
  variablesFrameOf,
} from './objects.ts'
export { MAIN, partOf, partOfDeployment, partsOf } from './parts.ts'
export type { Addition, DesiredObjects, FrozenVariables, TunnelSettings, WarmVolume, WorkspacePlan } from './plan.ts'
export { awaitsTurns } from './turns.ts'
