/**
 * Binding: every DeploymentTargetClaim gets a DeploymentTarget of its own, or a mark that one should be made.
 * Making it is `provisioning/`, giving it back is deployment-target/lifecycle.
 * Read reconcile.ts (the story), then match.ts (which target), status.ts (the words), situation.ts (the caches).
 */
export { claimBinding } from './controller.ts'
