/**
 * Git in a workspace: the clone before anything else runs, and credentials whenever Git asks for them. Pure functions make the files
 * and what they add to the pod; the scripts in them are the same for every workspace. kas/git-credentials is who answers them.
 */
export { gitFiles } from './files.ts'
export { type CopiedSecret, type GitPlan, type GitSettings, gitPlanOf, type KnownProject } from './plan.ts'
