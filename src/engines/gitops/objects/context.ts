import type { Kube } from '../../../adapters/kube/index.ts'
import type { Clock } from '../../../std/index.ts'

/** The same from the request for a sync down to each write and each look. */
export interface SyncContext {
  /** The target, as the tenant. */
  kube: Kube
  /** `Owner.id` of the sync. */
  owner: string
  clock: Clock
  signal?: AbortSignal | undefined
}
