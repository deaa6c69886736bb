/**
 * SpaceRequest → namespace, in this cluster or in that of an agent: made as its SpaceTier says, kept that way, with credentials in a kubeconfig Secret whose
 * bound token is renewed at four fifths of its life; deleted with the request.
 * Who asks for a SpaceRequest, and what is made from it, is not known here (deployment-target-claim/provisioning,
 * deployment-target/provisioned).
 * Read reconcile.ts (the story), then site.ts (where), desired.ts (what a tier means), credentials.ts, clean-up.ts, status.ts.
 */
export type { AgentAccess } from './agent-site.ts'
export { spaceRequests } from './controller.ts'
