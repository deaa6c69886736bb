/**
 * The state of a workspace, and why it is so: one pure function from the objects of a target to a state, the step it is in, its
 * trouble there, since when, and how long that is waited for. No server and no clock; time is part of the evidence.
 * Read evidence.ts (what goes in), assess.ts (the story), deployment.ts (the rules of GitLab's workspaces), then
 * causes.ts with its tables; a file for each part of a pod's life says how its troubles are recognised.
 */
export { type Assessment, assess } from './assess.ts'
export { CAUSES, causeOf, type TroubleReason } from './causes.ts'
export type { ActualState, Evidence, StepName } from './evidence.ts'
export { isThere } from './pods.ts'
export { type PodStage, STAGES, type Step } from './steps.ts'
export { durationInWords, type Trouble } from './trouble.ts'
