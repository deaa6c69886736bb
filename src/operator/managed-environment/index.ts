/**
 * GitOpsDeploymentManagedEnvironment: does its Secret hold usable credentials, and does the cluster answer them?
 * The answer is the condition ConnectionInitializationSucceeded; nothing waits for it but people and deliveries.
 * The kubeconfig is a stranger's: only a server, a CA and a token are taken from it (adapters/kube).
 * Read reconcile.ts (the story), then contract.ts (what is asked of the Secret), connection.ts, status.ts.
 */
export { type ManagedEnvironmentSettings, managedEnvironments } from './controller.ts'
