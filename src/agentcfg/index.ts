/**
 * The configuration of an agent as a library: `.berth/agents/<name>/config.yaml` is read into the message that is sent, with all
 * mistakes at once and the place of each; and what a manifest project means where nothing is said. kas reads with it, agents
 * fill in with it, so both mean the same. It does no I/O. Read parse.ts first, then rules.ts and manifest-project.ts.
 */
export { type AgentIdentity, accessRules, configurationFor, isSameFile } from './agent-configuration.ts'
export { type InventoryPolicy, type ManifestProject, manifestProjects } from './manifest-project.ts'
export type { ConfigurationMistake } from './mistakes.ts'
export { type ParsedConfiguration, parseConfigurationFile, readConfigurationFile } from './parse.ts'
