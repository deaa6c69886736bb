import type { AgentConfiguration } from '../rpc/index.ts'

/**
 * What follows the configuration, a part of the agent that it speaks of. `prepare` throws a `Failure` when it cannot do as it says; what it answers
 * puts the configuration into effect, and is called only when no part has thrown.
 */
export interface Follower {
  prepare(configuration: AgentConfiguration): () => void
}

/** What kas is told of one manifest project. */
export interface Told {
  /** Path of the project. */
  id: string
  /** In effect; empty at first. */
  commitId: string
  objects: number
  undone: number
  health: string
  reason: string
  message: string
  /** Milliseconds since the epoch; `undefined` when it was never in effect. */
  syncedAt: number | undefined
  removed: boolean
}

/** Where the parts of the agent write what kas is told. */
export interface Board {
  configuration(commitId: string, error: string): void
  project(told: Told): void
  /** Nothing more is told of it. */
  forget(id: string): void
}
