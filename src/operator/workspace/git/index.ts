/**
 * Git in a workspace: the clone before anything else runs, and credentials whenever Git asks for them. Pure functions make the files
 * and what they add to the pod; the scripts in them are the same for every workspace. kas/git-credentials is who answers them.
 * Read gather.ts and plan.ts (what is known), then files.ts, addition.ts and the scripts.
 */
export { CLONER, type GitAddition, gitAddition, gitNameOf } from './addition.ts'
export { gitFiles } from './files.ts'
export { type GitFindings, type GitServices, gatherGit } from './gather.ts'
export { foundFiles } from './outcome.ts'
export { type CopiedSecret, type GitPlan, gitPlanOf, type KnownProject, type WorkspaceGitSettings } from './plan.ts'
