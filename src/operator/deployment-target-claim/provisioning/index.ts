/**
 * The first half of the devsandbox provisioner: a claim that the binder marked gets a SpaceRequest, one and no second,
 * with what its class says (tier, parameters, reclaim policy) and what it asks for (resources).
 * Marking is `binding/`; the target is made of the SpaceRequest in deployment-target/provisioned.
 * Read reconcile.ts (the story), then desired.ts.
 */
export { sandboxProvisioning } from './controller.ts'
export { parametersOf } from './desired.ts'
