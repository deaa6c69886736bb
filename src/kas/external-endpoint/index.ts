/**
 * The external endpoint: a listener of its own for who may ask kas for everything, such as GitLab. He shows a JSON Web Token that is
 * signed with a shared secret; issuer and audience are checked. He asks which agents are connected and for the pods of their clusters,
 * and tells of pushes. Agents and people have no business here. Read services.ts, then pods.ts: a call that is routed.
 */
export { serveExternalEndpoint } from './services.ts'
