/**
 * The agent: lives in a target cluster, dials kas, and brings about there what the manifest projects of its configuration say.
 * It works with kas of Berth and of GitLab alike. program.ts wires its rooms: kas/ (the configuration, and what is told to
 * kas), gitops/ (one worker for each manifest project; only the pod that holds the Lease has them), kubernetes-api/ (requests to the
 * cluster's API that come through the tunnel). What these know of one another is in ports/.
 */
export { type AgentConfig, parseConfig, SETTINGS } from './config.ts'
export { type ReleasedProject, releaseProjects } from './gitops/index.ts'
export { createKubernetesApi } from './kubernetes-api/index.ts'
export { type AgentSurroundings, start } from './program.ts'
