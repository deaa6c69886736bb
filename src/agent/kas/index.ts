/**
 * The agent's side of kas. configuration.ts: the configuration, put into effect by all parts of the agent or by none; one that cannot be
 * put into effect leaves the last good one in place. registration.ts: that this pod is there, every five minutes, whether it leads or
 * not. reports.ts: how the manifest projects do, by the pod that leads. GitLab's kas knows no reports, and that is no fault.
 */
export { followConfiguration } from './configuration.ts'
export { register } from './registration.ts'
export { createReporter } from './reports.ts'
