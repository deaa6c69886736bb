/**
 * The life of a DeploymentTarget: its phase, its credentials, whether its API answers, its release when the claim goes.
 * Freeing what it stands for is its provisioner's work (deployment-target/reclaim for the built-in one).
 * Read reconcile.ts (the story), then status.ts (the words) and credentials.ts (when a Secret is usable);
 * reachability.ts says when an API is asked, ask.ts how and with what words, finding.ts what stands in the status.
 */
export { targetLifecycle } from './controller.ts'
