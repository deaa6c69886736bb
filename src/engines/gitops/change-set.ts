import type { Failure } from '../../std/index.ts'
import type { ObjectId } from './object-id.ts'

export type Change = 'created' | 'configured' | 'unchanged' | 'pruned' | 'terminating' | 'skipped' | 'failed'

/** What a sync did to one object. Logs, Events, status, inventory and tests all read this list. */
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
}

export const entriesOf = (entries: readonly Entry[], ...changes: Change[]): Entry[] =>
  entries.filter(({ change }) => changes.includes(change))
