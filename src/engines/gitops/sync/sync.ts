import { type Clock, Failure, isFailure } from '../../../std/index.ts'
import { healthOf } from '../../health/index.ts'
import type { Render, Snapshot } from '../../render/index.ts'
import { type ApplyRequest, apply } from '../apply/apply.ts'
import { createProgress } from '../apply/progress.ts'
import type { TakeOverRules } from '../apply/take-over.ts'
import { exact, type Held, type Inventory, type InventoryStore, isSame, loadFor, superset } from '../inventory/inventory.ts'
import { type Entry, entriesOf } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import type { Desired } from '../objects/place.ts'
import { driftsIn, newIn, planOf, type Repair, repaired, type SyncPlan } from '../plan/plan.ts'
import { type Wanted, type Wanting, wantedOf } from '../plan/wanted.ts'
import { type PruneSettings, pruneWhatLeft } from '../prune/leaving.ts'
import type { Contested } from '../sharing/wants.ts'
import type { ObservationRules } from '../state/object-state.ts'
import { type Observed, observedIn } from '../state/read-states.ts'
import type { Fight } from '../watch/fights.ts'
import type { SettledPass, SyncMemory } from '../watch/sync-memory.ts'
import type { WatchedStates } from '../watch/watched-states.ts'
import { count, keepingSteps, noMeter, type Phase, type SyncMeter, timed } from './meter.ts'
import { statesOf } from './observe.ts'
import type { TellSync } from './tell.ts'

export interface SyncRequest extends Wanting, PruneSettings {
  /** When the rendering began, of which `render` only gives the result. Milliseconds since 1970. */
  renderedSince?: number
  inventory: InventoryStore
  /** The memory of the last pass, kept up to date by watches. Without it, only `compare` looks at the cluster. */
  memory?: SyncMemory | undefined
  /** Read what no watch tells about, or all, instead of believing what is recorded. */
  compare?: boolean | 'all'
  /** Whether somebody asked for it, and does not wait for what is done at a pace. */
  isAsked?: boolean
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

interface Tools {
  render: Render
  clock: Clock
  meter?: SyncMeter | undefined
  tell?: TellSync | undefined
}

/** Brings a destination to where a commit says it should be. */
export async function sync(request: SyncRequest, tools: Tools, signal?: AbortSignal): Promise<SyncResult> {
  const { clock, tell } = tools
  if (!tell) return bringAbout(request, tools, signal)
  const { meter, steps } = keepingSteps(tools.meter ?? noMeter, clock)
  const { owner, snapshot, renderedSince: began = clock.now() } = request
  const tellEnd = (changes: readonly Entry[], failure?: Failure) =>
    tell({ commitId: snapshot.commitId, owner, began, ended: clock.now(), steps, changes, failure })
  const result = await bringAbout(request, { ...tools, meter }, signal).catch((thrown: unknown) => {
    if (!signal?.aborted) tellEnd([], Failure.from(thrown))
    throw thrown
  })
  tellEnd(result.changes)
  return result
}

/** Render, place, plan, apply, prune, and remember. */
async function bringAbout(request: SyncRequest, tools: Tools, signal: AbortSignal | undefined): Promise<SyncResult> {
  const { render, clock, meter = noMeter } = tools
  const { destination, memory, owner, compare = false } = request
  const context: SyncContext = { kube: destination.kube, owner: owner.id, clock, signal }
  const rules: ObservationRules = { ...request.rules, now: clock.now }
  const time = <T>(phase: Phase, step: () => Promise<T>) => timed(phase, { clock, meter }, step)
  const rendering = () => wantedOf(request, render, memory ?? {}, signal).catch(refusedCommit(request.snapshot))
  const wanted = await timed('render', { clock, meter }, rendering, request.renderedSince)
  declare(request, wanted)
  const { inventory, leftBehind } = await loadFor(destination.kube.server, request.inventory)
  const lastSettledPass = lastSettledPassIn(request, wanted, inventory.held)
  const observing = { ...context, rules, desired: wanted.desired }
  const { states } = await time('compare', () => statesOf(memory, compare, { ...observing, held: inventory.held }))
  const { generation } = states
  const known = isUnchanged(lastSettledPass, states, clock) ? lastSettledPass?.plan : undefined
  const keepsDrift = (key: string) => request.detectOnly === true || memory?.fights.isBackingOff(key) === true
  const seen = { states: states.current, isSettled: lastSettledPass !== undefined, keepsDrift }
  const fullPlan = known ?? planOf(wanted, inventory.held, seen)
  const { plan, later } = atPace(fullPlan, request)

  const before = await save(request, inventory, superset(inventory.held, newIn(plan)))
  const drifts = driftsIn(plan, states.current)
  const { applied, recorded } = await time('apply', () => applyPlan(request, { plan, wanted, before, states, rules }, context))
  const repairs = repaired(drifts, applied)
  const undone = wanted.refused.length + entriesOf(applied, 'failed', 'waiting').length
  const leaving = { plan, wanted, held: before.held, states: states.current, applied, undone }
  const { pruned, deletionsLater } = await time('prune', () => pruneWhatLeft(request, leaving, context))

  const changes = [...applied, ...pruned]
  const repairsLater = later.map(waitsForTurn)
  count(changes, meter)
  if (repairs.length > 0) meter.repaired(repairs.length)
  const held = changes.length === 0 ? recorded.held : exact(before.held, wanted.desired, changes)
  const after = await save(request, recorded, held)
  await states.follow({ ...observing, held: after.held })
  const isAsBefore = lastSettledPass?.held === after.held && isUnchanged(lastSettledPass, states, clock)
  const observed = isAsBefore ? lastSettledPass.observed : observedIn(states.current, after.held, wanted.byKey, clock.now())
  // An event that came while the plan was carried out may ask for another one.
  const idle = isIdle(fullPlan) && generation === states.generation ? plan : undefined
  const now = { wanted, held: after.held, observed, generation: states.generation, plan: idle }
  remember(request, now, undone + plan.prune.length === 0, repairs)
  return {
    commitId: request.snapshot.commitId,
    changes: [...wanted.refused, ...changes],
    get entries() {
      return [...wanted.refused, ...[...plan.unchanged, ...plan.drifted].map(unchanged), ...changes, ...repairsLater]
    },
    inventory: after,
    leftBehind,
    observed,
    isListing: states.isListing,
    repairsLater,
    deletionsLater,
    repairs,
    fights: memory?.fights.current() ?? [],
    contested: request.wants?.contested(owner.id) ?? [],
  }
}

function declare({ wants, owner, destination, snapshot, memory }: SyncRequest, { keys, refused }: Wanted): void {
  const { server } = destination.kube
  wants?.declare({ owner, server, keys, commitId: snapshot.commitId, changed: () => memory?.ring() })
  for (const entry of refused) wants?.tried(owner.id, server, entry)
}

/** Whoever reads it may have pushed several. */
const refusedCommit =
  ({ commitId }: Snapshot) =>
  (thrown: unknown): never => {
    if (!isFailure(thrown, 'invalid', 'too-large')) throw thrown
    const { code, message, reason, remedy, cause } = thrown
    throw new Failure(code, `commit ${commitId.slice(0, 12)}: ${message}`, {
      ...(reason && { reason }),
      ...(remedy && { remedy }),
      cause,
    })
  }

/** The last pass, if all was in effect after it and nothing else is wanted now. */
function lastSettledPassIn({ memory }: SyncRequest, wanted: Wanted, held: readonly Held[]): SettledPass | undefined {
  const last = memory?.settled
  return last?.wanted === wanted && last.held === held ? last : undefined
}

/** Nothing was heard since then, and the time does not say otherwise. */
const isUnchanged = (last: SettledPass | undefined, states: WatchedStates, clock: Clock): boolean =>
  last?.generation === states.generation && clock.now() < last.observed.until

const isIdle = (plan: SyncPlan): boolean => plan.apply.length + plan.drifted.length + plan.prune.length === 0

/** Objects that have drifted are set back at the pace of their tenant. */
function atPace(plan: SyncPlan, { memory, isAsked = false }: SyncRequest): { plan: SyncPlan; later: readonly Desired[] } {
  if (!memory || plan.repairs.size === 0) return { plan, later: [] }
  const repairs = memory.admitRepairs([...plan.repairs], isAsked)
  if (repairs.size === plan.repairs.size) return { plan, later: [] }
  const isLater = ({ key }: Desired) => plan.repairs.has(key) && !repairs.has(key)
  const later = plan.apply.filter(isLater)
  return { plan: { ...plan, apply: plan.apply.filter((item) => !isLater(item)), repairs }, later }
}

const waitsForTurn = ({ id, source }: Desired): Entry => ({
  id,
  change: 'waiting',
  why: 'was changed in the cluster, and waits: so much is changed all the time that it is set back at a pace',
  source,
})

interface Planned {
  plan: SyncPlan
  wanted: Wanted
  before: Inventory
  states: WatchedStates
  rules: ObservationRules
}

/** Applies, and writes down now and then how far it came. */
async function applyPlan(
  request: SyncRequest,
  { plan, wanted, before, states, rules }: Planned,
  context: SyncContext,
): Promise<{ applied: readonly Entry[]; recorded: Inventory }> {
  const { memory, wants, takeOver, force, destination } = request
  const { kube, clock, owner } = context
  let recorded = before
  if (plan.apply.length === 0) return { applied: [], recorded }
  const progress = createProgress(clock, async (done) => {
    recorded = await save(request, recorded, exact(before.held, wanted.desired, done))
  })
  const applying: ApplyRequest = {
    ...context,
    held: before.held,
    set: wanted.isLinked ? wanted.desired : plan.apply,
    refused: wanted.refused,
    waves: wanted.waves,
    states: states.current,
    wrote: states.wrote,
    standing: (otherOwner, key) =>
      takeOver?.fromOthers ? 'releases' : (wants?.standing(otherOwner, kube.server, key) ?? 'unknown'),
    takeOver,
    force,
    podSecurityLabels: destination.podSecurityLabels,
    ignore: rules.ignore,
    healthOf: (object) => healthOf(object, clock.now(), rules.healthRules),
    told(entry) {
      wants?.tried(owner, kube.server, entry)
      progress.note(entry)
    },
  }
  const endWrite = memory?.beginWrite()
  const entries = await progress.during(() => apply(plan.apply, applying)).finally(endWrite)
  return { applied: entries.map((entry) => unlessEarly(entry, request)), recorded }
}

/** The other sync may be about to give it up, by this very commit. */
function unlessEarly(entry: Entry, { isEarly }: SyncRequest): Entry {
  const isWorthWaiting = entry.failure?.reason === 'KeptByOther' && isEarly?.()
  return isWorthWaiting ? { ...entry, change: 'waiting' } : entry
}

/** Only where something changed. */
async function save({ inventory: store }: SyncRequest, before: Inventory, held: readonly Held[]): Promise<Inventory> {
  if (isSame(before.held, held)) return before
  const inventory = { server: before.server, held }
  await store.save(inventory)
  return inventory
}

function remember({ memory }: SyncRequest, settled: SettledPass, isAll: boolean, repairs: readonly Repair[]): void {
  if (!memory) return
  memory.settled = isAll ? settled : undefined
  for (const { id, fields, by } of repairs) memory.fights.repaired(id, { drift: fields, by })
}

const unchanged = ({ id, source }: Desired): Entry => ({ id, change: 'unchanged', source })
