/**
 * GitOps as a library: the files of a commit in, objects in a cluster out. `sync` is the whole story:
 * render → place → plan → apply → prune, with an inventory written before and after.
 * It knows neither where commits come from nor who asks; everything in the target happens through the Kube it is given,
 * which is the tenant's. Read sync.ts first, then its steps in that order: render/, place.ts, plan.ts, apply/, prune/, inventory/.
 * health/ stands alone, and fields/ compares objects. What is known of the objects between two passes is in book.ts (a line for
 * each), kept by the watches of live/ (ledgers.ts, live-book.ts, watches.ts); sharing/ says which sync wants what, fights.ts when
 * enough is enough.
 */

export { keyOfId, type ObjectId, sayId, sayKey } from '../apply/index.ts'
export type { Taking } from './apply/keeper.ts'
export type { Judge } from './book.ts'
export { type Change, type Entry, entriesOf } from './change-set.ts'
export type { Difference, FieldChange } from './fields/diff.ts'
export { type Hiding, hiding } from './fields/hidden.ts'
export { type IgnoreRules, ignoreRules } from './fields/ignore.ts'
export { type Fight, sayFight } from './fights.ts'
export { endsByGoing, healthOf } from './health/health.ts'
export { type Allowance, type CompiledRules, type HealthRule, type HealthRules, healthRules } from './health/rules.ts'
export { type Health, type HealthStatus, worse } from './health/verdict.ts'
export type { Held, Inventory, InventoryStore } from './inventory/inventory.ts'
export { INVENTORY_LABEL, inventoryInConfigMaps } from './inventory/inventory-config-map.ts'
export { objectionToNamespace, trespassOf } from './limits.ts'
export { createLedgers, type Ledger, type Ledgers } from './live/ledgers.ts'
export { noMeter, PHASES, type Phase, type SyncMeter, syncMeter } from './meter.ts'
export { observe } from './observe.ts'
export { type Observed, observedIn } from './observed.ts'
export { type Destination, OWNER_LABEL, type Owner } from './place.ts'
export { type Preview, type PreviewRequest, preview } from './preview.ts'
export { GUARDS, type GuardReason, type Guards } from './prune/guards.ts'
export { type Removal, type RemovalRequest, releaseAll, removeAll } from './prune/remove-all.ts'
export { pathIn, patternsFor } from './render/kustomization.ts'
export type { Manifest } from './render/manifest.ts'
export { createFileReader, type ReadFiles } from './render/plain.ts'
export { createRenderer, type Render, type RendererOptions } from './render/render.ts'
export type { Snapshot, SourceFile } from './render/source.ts'
export { type Variables, withVariables } from './render/variables.ts'
export type { Repair } from './repairs.ts'
export { sayIds } from './sentence.ts'
export { type Contested, createWants, type Wants } from './sharing/wants.ts'
export { type SyncRequest, type SyncResult, sync } from './sync.ts'
