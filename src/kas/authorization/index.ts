/**
 * Who may read which GitProject. Callers show the token of an Agent, or a Kubernetes service account token that the API server
 * is asked about; the operator's own account is believed when it says on which namespace's behalf it asks.
 * Not here: Git credentials, which callers never see. Read grants.ts (the rule) first, then find.ts (which project
 * is meant, an agent's configuration project too), identify.ts, and gate.ts (letting in and throwing out; an agent waits until a
 * project that has replaced the one it knew is trusted).
 */
export { createAgentGate } from './agent-gate.ts'
export { configurationRefusal, projectOf } from './find.ts'
export { createOperatorGate, createProjectGate, createProxyGate } from './gate.ts'
export { mayRead } from './grants.ts'
export { createTokenRate } from './token-rate.ts'
export { createTokenReviews } from './token-reviews.ts'
export { createWorkspaceGate } from './workspace-gate.ts'
