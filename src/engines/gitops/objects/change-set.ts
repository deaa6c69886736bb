import type { Failure } from '../../../std/index.ts'
import type { ObjectId } from '../../apply/index.ts'

/**
 * waiting: what it depends on is not ready yet, or what depends on it not gone; it is tried again. withheld: its deletion
 * waits for a confirmation. skipped: the sync lets it be, for the reason given.
 */
export type Change =
  | 'created'
  | 'configured'
  | 'unchanged'
  | 'pruned'
  | 'terminating'
  | 'waiting'
  | 'withheld'
  | 'skipped'
  | 'failed'

/** Tells what a sync did to one object. Logs, Events, status, inventory and tests all read this list. */
export interface Entry {
  readonly id: ObjectId
  readonly change: Change
  /** Why it was skipped or failed, fit for users. */
  readonly why?: string
  /** What `why` was made from. */
  readonly failure?: Failure
  /** Where the object stands in the repository. */
  readonly source?: string
  /** Of the live object, when it was written. */
  readonly uid?: string
  /** Skipped for now only: it stays ours as it is, and is tried again. */
  readonly undone?: true
}

export const entriesOf = (entries: readonly Entry[], ...changes: Change[]): Entry[] =>
  entries.filter(({ change }) => changes.includes(change))
