/**
 * The way to the Kubernetes API of an agent's cluster. Who comes shows a token of the management cluster; the agent's configuration
 * (user_access, ci_access) says as whom he may act. Clients, agents and clusters are hostile to one another: only what is on a list passes.
 * Read visit.ts (the story), then admission.ts, judge.ts and rules.ts (who may), headers.ts (the lists) and exchange.ts (the stream).
 */
export { createVisitMeters, serveKubernetesApi } from './visit.ts'
