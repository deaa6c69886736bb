/**
 * The agent: lives in a target cluster, dials kas, and brings about there what the manifest projects of its configuration say.
 * It works with kas of Berth and of GitLab alike. program.ts wires its rooms: configuration/ (what is to be done), registration/ and
 * reports/ (what is told to kas), observability/ (the log level), gitops/ (one worker for each manifest project; only the pod that
 * holds the Lease has them), kubernetes-api/ (requests to the cluster's API that come through the tunnel).
 */
export { type Config, parseConfig, SETTINGS } from './config.ts'
export { createKubernetesApi, type KubernetesApiOptions } from './kubernetes-api/index.ts'
export { type Surroundings, start } from './program.ts'
