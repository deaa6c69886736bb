/**
 * What a workspace is, and why: one pure function from the objects of a target to a state, the step it is in, what is wrong
 * there, since when, and how long that is waited for. No server and no clock; time is part of the evidence.
 * Read evidence.ts (what goes in), assess.ts (the story), deployment.ts (the rules of the reference implementation), then
 * causes.ts with its tables; a file for each part of a pod's life says how its troubles are recognised.
 */
export { type Assessment, assess } from './assess.ts'
export { CAUSES, causeOf, type Reason } from './causes.ts'
export type { ActualState, Evidence, StepName } from './evidence.ts'
export { isThere } from './pods.ts'
export { STAGES, type Stage, type Step } from './steps.ts'
export { spelled, type Trouble } from './trouble.ts'
