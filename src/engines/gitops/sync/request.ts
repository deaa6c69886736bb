import type { TakeOverRules } from '../apply/take-over.ts'
import type { Held, Inventory, InventoryStore } from '../inventory/inventory.ts'
import type { Entry } from '../objects/change-set.ts'
import type { Repair } from '../plan/plan.ts'
import type { Wanting } from '../plan/wanted.ts'
import type { PruneSettings } from '../prune/leaving.ts'
import type { Contested } from '../sharing/wants.ts'
import type { ObservationRules } from '../state/object-state.ts'
import type { Observed } from '../state/read-states.ts'
import type { Fight } from '../watch/fights.ts'
import type { SyncMemory } from '../watch/sync-memory.ts'

export interface SyncRequest extends Wanting, PruneSettings {
  /** When the rendering began, of which `render` only gives the result. Milliseconds since 1970. */
  renderedSince?: number
  inventory: InventoryStore
  /** The memory of the last pass, kept up to date by watches. Without it, only `compare` looks at the cluster. */
  memory?: SyncMemory | undefined
  /** Read what no watch tells about, or all, instead of believing what is recorded. */
  compare?: boolean | 'all'
  /**
   * Which request it answers, where somebody asked for it: whoever does waits for nothing that is done at a pace, and hooks run once
   * again for each request.
   */
  asked?: string | undefined
  /** By which rules objects are looked at. */
  rules?: Omit<ObservationRules, 'now'>
  /** Whether what was changed in the cluster is only told, not set back. */
  detectOnly?: boolean
  /** Whether objects are deleted and made anew when a field that cannot be changed has changed. */
  force?: boolean
  /** How an object that is there already becomes ours; without it, one that no other sync keeps does. */
  takeOver?: TakeOverRules | undefined
}

export interface SyncResult {
  commitId: string
  /** Every object of the sync and what was done with it. Made when it is asked for: almost all of them are unchanged. */
  readonly entries: readonly Entry[]
  /** All of them but those that are unchanged. */
  changes: readonly Entry[]
  inventory: Inventory
  /** Objects of an earlier destination that nobody holds any more. */
  leftBehind: readonly Held[]
  /** How they do. */
  observed: Observed
  /** Whether the watches have yet to tell of some of them. */
  isListing: boolean
  /** Objects that were changed in the cluster, and are set back later. */
  repairsLater: readonly Entry[]
  /** Objects that left the repository, and stay until other syncs have said whether they want them. */
  deletionsLater: readonly Held[]
  /** Objects that were changed in the cluster and were set back. */
  repairs: readonly Repair[]
  fights: readonly Fight[]
  /** Objects that another sync wants as well. */
  contested: readonly Contested[]
}
