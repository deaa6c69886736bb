/**
 * Preview: an environment of its own for each branch, with its namespace, gone with the branch.
 * It makes claims and Environments, and one GitOpsDeploymentSet that follows these; the rest is the affair of other rooms.
 * Read reconcile.ts (the story), then plan.ts and desired.ts, which are pure, and belongings.ts (all writes).
 */
export { previews } from './controller.ts'
