/**
 * Answers requests to the Kubernetes API that come through the tunnel: HTTP in gRPC messages, made with the agent's own credentials,
 * and as whom the request says. Who may ask is kas' matter. Read answer.ts first, then request.ts.
 */
export { createKubernetesApi } from './answer.ts'
