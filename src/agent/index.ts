/**
 * The agent: the part of Berth that runs in a target cluster. It connects to kas, so that nothing has to reach into the cluster.
 * Read kubernetes-api/: requests to the cluster's API that come through the tunnel.
 */
export { createKubernetesApi, type KubernetesApiOptions } from './kubernetes-api/index.ts'
