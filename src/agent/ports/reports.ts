/** The state of one manifest project, as kas is told. */
export interface ManifestProjectStatus {
  /** Path of the project. */
  id: string
  /** In effect; empty at first. */
  commitId: string
  objects: number
  undone: number
  health: string
  /** Empty, as the message is, when nothing is wrong. */
  reason: string
  message: string
  /** Milliseconds since the epoch; `undefined` when it was never in effect. */
  syncedAt: number | undefined
  removed: boolean
}

/** The parts of the agent write here what kas is told. */
export interface Reports {
  configuration(commitId: string, error: string): void
  project(status: ManifestProjectStatus): void
  /** Nothing more is told of it. */
  forget(id: string): void
  /** Tells all of it once more: kas may have heard something else meanwhile. */
  again(): void
}
