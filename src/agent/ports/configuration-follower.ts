import type { AgentConfiguration } from '../../rpc/index.ts'

/**
 * A part of the agent of which the configuration speaks. `prepare` throws a `Failure` when it cannot do as it says; its answer puts the
 * configuration into effect, and is called only when no part has thrown.
 */
export interface ConfigurationFollower {
  prepare(configuration: AgentConfiguration): () => void
}
