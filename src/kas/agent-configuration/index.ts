/**
 * The configuration of agents: which file of which commit it is, what is wrong with it, and how it is streamed to the agents that
 * it is for. Commits come from git-polling/ and rights from authorization/, through the ports of kas; what was found is told to
 * agent-registration/, which writes it into the Agent. Read service.ts first, then find.ts.
 */
export { type ConfigurationMemory, rememberConfigurations } from './memory.ts'
export { type ConfigurationDesk, createAgentConfigurationService } from './service.ts'
