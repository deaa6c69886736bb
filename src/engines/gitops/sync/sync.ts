import { type Clock, Failure, isFailure } from '../../../std/index.ts'
import type { Render, Snapshot } from '../../render/index.ts'
import { type Held, loadFor, superset } from '../inventory/inventory.ts'
import { type Entry, entriesOf } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import { hookRun } from '../objects/hook-runs.ts'
import type { Desired } from '../objects/place.ts'
import { driftsIn, newIn, planOf, type Repair, repaired, type SyncPlan } from '../plan/plan.ts'
import { type Wanted, wantedOf } from '../plan/wanted.ts'
import { pruneWhatLeft } from '../prune/leaving.ts'
import type { ObservationRules } from '../state/object-state.ts'
import { observedIn } from '../state/read-states.ts'
import type { SettledPass } from '../watch/sync-memory.ts'
import type { WatchedStates } from '../watch/watched-states.ts'
import { type Applying, applyItems, save } from './apply-items.ts'
import { endHooks } from './end-hooks.ts'
import { deleteEnded, exactWithHooks, failedHooks } from './hooks.ts'
import { count, keepingSteps, noMeter, type Phase, type SyncMeter, timed } from './meter.ts'
import { statesOf } from './observe.ts'
import type { SyncRequest, SyncResult } from './request.ts'
import type { TellSync } from './tell.ts'

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
  const hooks = wanted.hooks && { ...wanted.hooks, run: hookRun(wanted.hooks.content, request.asked) }
  const isAskedToRun = hooks !== undefined && request.asked !== undefined
  const known = !isAskedToRun && isUnchanged(lastSettledPass, states, clock) ? lastSettledPass?.plan : undefined
  const keepsDrift = (key: string) => request.detectOnly === true || memory?.fights.isBackingOff(key) === true
  const seen = { states: states.current, isSettled: lastSettledPass !== undefined, keepsDrift, run: hooks?.run }
  const fullPlan = known ?? planOf(wanted, inventory.held, seen)
  const { plan, later } = atPace(fullPlan, request)

  const before = await save(request, inventory, superset(inventory.held, newIn(plan)))
  const drifts = driftsIn(plan, states.current)
  const set = wanted.isLinked ? withoutFailHooks(wanted) : plan.apply
  const applying: Applying = { items: plan.apply, set, refused: wanted.refused, wanted, hooks, before, states, rules }
  const { applied, recorded } = await time('apply', () => applyItems(request, applying, context))
  const repairs = repaired(drifts, applied)
  const undone = wanted.refused.length + entriesOf(applied, 'failed', 'waiting').length + failedHooks(before.held, hooks)
  const leaving = { plan, wanted, held: before.held, states: states.current, applied, undone }
  const { pruned, deletionsLater } = await time('prune', () => pruneWhatLeft(request, leaving, context))

  const changes = [...applied, ...pruned]
  const repairsLater = later.map(waitsForTurn)
  count(changes, meter)
  if (repairs.length > 0) meter.repaired(repairs.length)
  const held = exactWithHooks(before.held, wanted.desired, { entries: changes, hooks })
  const ended = await endHooks(request, { ...applying, before: recorded, held, applied, onFailure: plan.onFailure }, context)
  const after = await save(request, ended.recorded, ended.held)
  await states.follow({ ...observing, held: after.held })
  const deleted = hooks ? await deleteEnded(after.held, hooks, { states: states.current, wanted, context }) : []
  const ofHooks = [...ended.entries, ...deleted]
  const isAsBefore = lastSettledPass?.held === after.held && isUnchanged(lastSettledPass, states, clock)
  const observed = isAsBefore ? lastSettledPass.observed : observedIn(states.current, after.held, wanted.byKey, clock.now())
  // An event that came while the plan was carried out may ask for another one.
  const idle = isIdle(fullPlan) && generation === states.generation ? plan : undefined
  const now = { wanted, held: after.held, observed, generation: states.generation, plan: idle }
  remember(request, now, undone + plan.prune.length + ended.entries.length === 0, repairs)
  return {
    commitId: request.snapshot.commitId,
    changes: [...wanted.refused, ...wanted.leftOut, ...changes, ...ofHooks],
    get entries() {
      const still = [...plan.unchanged, ...plan.drifted].map(unchanged)
      return [...wanted.refused, ...wanted.leftOut, ...still, ...changes, ...ofHooks, ...repairsLater]
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
function atPace(plan: SyncPlan, { memory, asked }: SyncRequest): { plan: SyncPlan; later: readonly Desired[] } {
  if (!memory || plan.repairs.size === 0) return { plan, later: [] }
  const repairs = memory.admitRepairs([...plan.repairs], asked !== undefined)
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

/** Of them the others do not wait. */
const withoutFailHooks = ({ desired, hooks }: Wanted): readonly Desired[] =>
  hooks ? desired.filter(({ key }) => hooks.byKey.get(key)?.phase !== 'SyncFail') : desired

function remember({ memory }: SyncRequest, settled: SettledPass, isAll: boolean, repairs: readonly Repair[]): void {
  if (!memory) return
  memory.settled = isAll ? settled : undefined
  for (const { id, fields, by } of repairs) memory.fights.repaired(id, { drift: fields, by })
}

const unchanged = ({ id, source }: Desired): Entry => ({ id, change: 'unchanged', source })
