/**
 * Which pods of which agents are there, and the status of Agents, which nobody else writes: the pods, the configuration with its
 * mistakes, what the agent reports of its projects, and what follows from all that. What is known of pods is in memory; it comes
 * back by itself when kas starts anew. Read roll.ts first, then status.ts (pure), status-writer.ts and services.ts.
 */

export { agentReportFrom } from './report.ts'
export { createRoll } from './roll.ts'
export { connectedAgents, createRegistrationServices } from './services.ts'
export { statusAfter } from './status.ts'
export { createStatusWriter } from './status-writer.ts'
