/**
 * GitOps as a library: the files of a commit in, objects in a cluster out. `sync` is the whole story: render, place, plan, apply, prune,
 * with an inventory written before and after. It knows neither where commits come from nor who asks; everything in the target happens
 * through the Kube that it is given, which is the tenant's.
 * Read sync/sync.ts first, then its steps in that order: plan/ (what is wanted, and what has to change), apply/ (apply.ts for a set,
 * write.ts for one object), prune/ and inventory/. objects/ has what all of them say of an object, fields/ who owns which field of it.
 * state/ says how objects were seen last and finds drift (driftOf in object-state.ts); watch/ keeps it up to date between two passes
 * (sync-memory.ts); sharing/ says which sync wants what. preview/ tells what a sync would do.
 */

export { appliedBy, handingOver } from './apply/take-over.ts'
export { ignoreRules } from './fields/ignore.ts'
export type { Held, Inventory, InventoryStore } from './inventory/inventory.ts'
export { INVENTORY_LABEL, inventoryInConfigMaps } from './inventory/inventory-config-map.ts'
export { type Entry, entriesOf, sayEntries, sayEntry } from './objects/change-set.ts'
export { objectionToNamespace, trespassOf } from './objects/limits.ts'
export { type Destination, OWNER_LABEL, type Owner } from './objects/place.ts'
export { type Hiding, hiding } from './preview/hidden.ts'
export { type Previewed, preview } from './preview/preview.ts'
export { removeAll } from './prune/remove-all.ts'
export { createWants, type Wants } from './sharing/wants.ts'
export type { Observed } from './state/read-states.ts'
export { type SyncMeter, syncMeter } from './sync/meter.ts'
export { observe } from './sync/observe.ts'
export type { SyncRequest, SyncResult } from './sync/request.ts'
export { sync } from './sync/sync.ts'
export { createTellSync, type TellSync } from './sync/tell.ts'
export { sayFight } from './watch/fights.ts'
export { createSyncMemories, type SyncMemories } from './watch/sync-memory.ts'
