import { type ApplyRequest, apply } from '../apply/apply.ts'
import { createProgress } from '../apply/progress.ts'
import { standingBy } from '../apply/take-over.ts'
import { type Held, type Inventory, isSame } from '../inventory/inventory.ts'
import type { Entry } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import type { Desired } from '../objects/place.ts'
import type { Wanted } from '../plan/wanted.ts'
import { healthNow, type ObservationRules } from '../state/object-state.ts'
import type { WatchedStates } from '../watch/watched-states.ts'
import { endsIn, exactWithHooks, type SyncHooks } from './hooks.ts'
import type { SyncRequest } from './request.ts'

export interface Applying {
  items: readonly Desired[]
  /** In which dependencies and earlier waves are looked for. */
  set: readonly Desired[]
  refused: readonly Entry[]
  wanted: Wanted
  hooks: SyncHooks | undefined
  before: Inventory
  states: WatchedStates
  rules: ObservationRules
}

/** Applies, and writes down now and then how far it came. */
export async function applyItems(
  request: SyncRequest,
  { items, set, refused, wanted, hooks, before, states, rules }: Applying,
  context: SyncContext,
): Promise<{ applied: readonly Entry[]; recorded: Inventory }> {
  const { memory, wants, takeOver, force, destination } = request
  const { kube, clock, owner } = context
  let recorded = before
  if (items.length === 0) return { applied: [], recorded }
  const progress = createProgress(clock, async (done) => {
    recorded = await save(request, recorded, exactWithHooks(before.held, wanted.desired, { entries: done, hooks }))
  })
  const applying: ApplyRequest = {
    ...context,
    held: before.held,
    set,
    hookEnds: hooks && endsIn(before.held, hooks),
    hookRunOf: (key) => (hooks?.byKey.has(key) ? hooks.run : undefined),
    refused,
    waves: wanted.waves,
    states: states.current,
    wrote: states.wrote,
    standing: standingBy(takeOver, (otherOwner, key) => wants?.standing(otherOwner, kube.server, key) ?? 'unknown'),
    takeOver,
    force,
    podSecurityLabels: destination.podSecurityLabels,
    ignore: rules.ignore,
    healthOf: (object) => healthNow(object, clock.now(), rules.healthRules),
    told(entry) {
      wants?.tried(owner, kube.server, entry)
      progress.note(entry)
    },
  }
  const endWrite = memory?.beginWrite()
  const entries = await progress.during(() => apply(items, applying)).finally(endWrite)
  return { applied: entries.map((entry) => unlessEarly(entry, request)), recorded }
}

/** The other sync may be about to give it up, by this very commit. */
function unlessEarly(entry: Entry, { isEarly }: SyncRequest): Entry {
  const isWorthWaiting = entry.failure?.reason === 'KeptByOther' && isEarly?.()
  return isWorthWaiting ? { ...entry, change: 'waiting' } : entry
}

/** Only where something changed. */
export async function save({ inventory: store }: SyncRequest, before: Inventory, held: readonly Held[]): Promise<Inventory> {
  if (isSame(before.held, held)) return before
  const inventory = { server: before.server, held }
  await store.save(inventory)
  return inventory
}
