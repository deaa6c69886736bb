/**
 * What the devsandbox provisioner does when one of its targets is deleted: under Delete the SpaceRequest goes, and with it
 * the namespace; then the provisioner's finalizer comes off. Under Retain the finalizer comes off and everything stays.
 * Whether a target is deleted, and its phases (Released, Failed), are `lifecycle/`.
 * Read reconcile.ts.
 */
export { sandboxReclaim } from './controller.ts'
