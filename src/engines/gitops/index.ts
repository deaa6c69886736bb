/**
 * GitOps as a library: the files of a commit in, objects in a cluster out. `sync` is the whole story:
 * render → place → plan → apply → prune, with an inventory written before and after.
 * It knows neither where commits come from nor who asks; everything in the target happens through the Kube it is given,
 * which is the tenant's. Read sync.ts first, then its steps in that order: render/, place.ts, plan.ts, apply/, prune/, inventory/.
 * health/ stands alone, and fields/ compares objects. What is known of the objects between two passes is in book.ts (a line for
 * each), kept by the watches of live/ (ledgers.ts, live-book.ts, watches.ts); sharing/ says which sync wants what, fights.ts when
 * enough is enough.
 */

export type { Taking } from './apply/take-over.ts'
export { type IgnoreRules, ignoreRules } from './fields/ignore.ts'
export type { Held, Inventory, InventoryStore } from './inventory/inventory.ts'
export { INVENTORY_LABEL, inventoryInConfigMaps } from './inventory/inventory-config-map.ts'
export { type Change, type Entry, entriesOf } from './objects/change-set.ts'
export { objectionToNamespace, trespassOf } from './objects/limits.ts'
export { type Destination, OWNER_LABEL, type Owner } from './objects/place.ts'
export type { Repair } from './plan/plan.ts'
export type { Difference, FieldChange } from './preview/diff.ts'
export { type Hiding, hiding } from './preview/hidden.ts'
export { type Preview, type PreviewRequest, preview } from './preview/preview.ts'
export { GUARDS, type GuardReason, type Guards } from './prune/guards.ts'
export { type Removal, type RemovalRequest, releaseAll, removeAll } from './prune/remove-all.ts'
export { type Contested, createWants, type Wants } from './sharing/wants.ts'
export type { Judge } from './state/object-state.ts'
export { type Observed, observe, observedIn } from './state/observe.ts'
export { noMeter, PHASES, type Phase, type SyncMeter, syncMeter } from './sync/meter.ts'
export { type SyncRequest, type SyncResult, sync } from './sync/sync.ts'
export { type Fight, sayFight } from './watch/fights.ts'
export { createLedgers, type Ledger, type Ledgers } from './watch/sync-memory.ts'
