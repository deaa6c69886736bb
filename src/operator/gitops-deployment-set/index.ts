/**
 * GitOpsDeploymentSet: one GitOpsDeployment for each element that the generators give, brought into effect in steps.
 * What becomes of each of them is its own affair (operator/gitops-deployment); here they are objects with a condition.
 * Read reconcile.ts (the story), then elements.ts, desired.ts and plan.ts, which are pure, children.ts (all writes). What may go
 * by itself says operator/removal-guard; what kas tells of branches and directories comes from operator/repository-names.
 */
export { deploymentSets } from './controller.ts'
