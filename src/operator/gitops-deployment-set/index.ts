/**
 * GitOpsDeploymentSet: one GitOpsDeployment for each element that the generators give, brought into effect in steps.
 * What becomes of each of them is its own affair (operator/gitops-deployment); here they are objects with a condition.
 * Read reconcile.ts (the story), then elements.ts, desired.ts and plan.ts, which are pure, and status.ts.
 */
export { deploymentSets } from './controller.ts'
export type { NameSource } from './repositories.ts'
