/**
 * Environment → GitOpsDeploymentManagedEnvironment: follows an Environment's claim (or its own credentials) to the
 * target, and keeps the managed environment and the copy of the credentials Secret equal to it.
 * Whether the target answers is found out by the room managed-environment; the two meet in the API server only.
 * Read reconcile.ts (the story), then destination.ts (where it leads), desired.ts, status.ts, belongings.ts (the writes).
 */
export { environments } from './controller.ts'
