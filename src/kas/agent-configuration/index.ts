/**
 * The configuration of agents: which file of which commit it is, what is wrong with it, and how it is streamed to the agents that
 * it is for. Commits come from git-polling/ and rights from authorization/, through the ports of kas; what was found is told to
 * agent-registration/, which writes it into the Agent. Who may reach the cluster of an agent is read apart from that, for as long as
 * somebody wants to know. Read service.ts first, then find.ts and rules.ts.
 */
export { createConfigurationFinder } from './find.ts'
export { createAccessRules } from './rules.ts'
export { type ConfigurationOptions, createAgentConfigurationService } from './service.ts'
