/**
 * The second half of the devsandbox provisioner: a SpaceRequest that is ready becomes the DeploymentTarget of the claim
 * it was made for; one whose claim is gone is deleted if its class said so. Asking for it is deployment-target-claim/provisioning,
 * giving it back is `reclaim/`, the target's phases are `lifecycle/`.
 * Read reconcile.ts (the story), then desired.ts and orphan.ts.
 */
export { sandboxTargets } from './controller.ts'
