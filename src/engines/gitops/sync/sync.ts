import type { DeleteHow } from '../../../adapters/kube/index.ts'
import type { Clock } from '../../../std/index.ts'
import { healthOf } from '../../health/index.ts'
import type { Render, Snapshot, Variables } from '../../render/index.ts'
import { type Applying, apply } from '../apply/apply.ts'
import { createProgress } from '../apply/progress.ts'
import type { Taking } from '../apply/take-over.ts'
import { exact, type Held, type Inventory, type InventoryStore, isSame, loadFor, superset } from '../inventory/inventory.ts'
import { type Entry, entriesOf } from '../objects/change-set.ts'
import type { Desired, Destination, Owner } from '../objects/place.ts'
import { driftsIn, newIn, type Plan, planOf, planOfDrift, type Repair, repaired } from '../plan/plan.ts'
import { type Wanted, wantedOf } from '../plan/wanted.ts'
import type { Guards } from '../prune/guards.ts'
import { pruneWhatLeft } from '../prune/leaving.ts'
import type { Contested, Wants } from '../sharing/wants.ts'
import type { Book, Judge } from '../state/object-state.ts'
import { type Observed, observe, observedIn } from '../state/observe.ts'
import type { Fight } from '../watch/fights.ts'
import type { Ledger, Steady } from '../watch/sync-memory.ts'
import { createPlainBook, type LiveBook } from '../watch/watched-states.ts'
import { count, noMeter, type Phase, type SyncMeter, timed } from './meter.ts'

export interface SyncRequest {
  snapshot: Snapshot
  /** Directory in the repository. */
  path: string
  destination: Destination
  owner: Owner
  inventory: InventoryStore
  /** What is remembered from the last pass, and kept up to date by watches. Without it, only `compare` looks at the cluster. */
  ledger?: Ledger | undefined
  /** Read what no watch tells about, or all, instead of believing what is recorded. */
  compare?: boolean | 'all'
  /** Whether somebody asked for it, and does not wait for what is done at a pace. */
  isAsked?: boolean
  /** How objects are looked at. */
  judge?: Omit<Judge, 'now'>
  /** Whether what was changed in the cluster is only told, not set back. */
  detectOnly?: boolean
  /** Whether objects are deleted and made anew when a field that cannot be changed has changed. */
  force?: boolean
  /** Delete what left the repository; otherwise it is let go. */
  prune?: boolean
  /** Only when all that the commit describes is healthy. */
  pruneLast?: boolean
  /** When deleting waits for somebody to confirm it. */
  guards?: Guards | undefined
  /** Somebody has confirmed that this commit deletes. */
  confirmed?: boolean
  /** Put into what was rendered. */
  variables?: Variables | undefined
  /** Who wants what, where several syncs may want the same. */
  wants?: Wants | undefined
  /** Whether others have yet to say what they want of this commit. */
  isEarly?: (() => boolean) | undefined
  /** How what stands there already becomes ours; without it, what nobody else keeps does. */
  taking?: Taking | undefined
  /** What becomes of what objects have made when these are deleted; as the server has it without it. */
  propagation?: DeleteHow['propagation']
}

export interface SyncResult {
  commitId: string
  /** Every object of the sync and what was done with it. Made when it is asked for: almost all of them are unchanged. */
  readonly entries: readonly Entry[]
  /** All of them but those that are unchanged. */
  changes: readonly Entry[]
  /** What is held now. */
  inventory: Inventory
  /** Objects of an earlier destination that nobody holds any more. */
  leftBehind: readonly Held[]
  /** How they do. */
  observed: Observed
  /** Whether the watches have yet to tell of some of them. */
  isYoung: boolean
  /** What was changed in the cluster, and is set back later. */
  putOff: readonly Entry[]
  /** What left the repository, and stays until others have said whether they want it. */
  postponed: readonly Held[]
  /** What was changed in the cluster and was set back. */
  repairs: readonly Repair[]
  fights: readonly Fight[]
  /** Objects that another sync wants as well. */
  contested: readonly Contested[]
}

export interface Tools {
  render: Render
  clock: Clock
  meter?: SyncMeter | undefined
}

/** Brings a destination to where a commit says it should be: render, place, plan, apply, prune, and remember. */
export async function sync(request: SyncRequest, tools: Tools, signal?: AbortSignal): Promise<SyncResult> {
  const { render, clock, meter = noMeter } = tools
  const { snapshot, destination, ledger } = request
  const judge: Judge = { ...request.judge, now: clock.now }
  const time = <T>(phase: Phase, step: () => Promise<T>) => timed(phase, { clock, meter }, step)
  const wanted = await time('render', () => wantedOf(request, render, ledger ?? {}, signal))
  declare(request, wanted)
  const { inventory, leftBehind } = await loadFor(destination.kube.server, request.inventory)
  const steady = steadyIn(request, wanted, inventory.held)
  const look = { judge, desired: wanted.desired, held: inventory.held }
  const book = await time('compare', () => bookOf(request, look, signal))
  const { edition } = book
  const calm = isCalm(steady, book, clock) ? steady : undefined
  const whole = calm?.plan ?? planFor(request, { wanted, held: inventory.held, steady, book: book.lines })
  const { plan, putOff } = inTurn(whole, request)

  const before = await save(request, inventory, superset(inventory.held, newIn(plan)))
  const drifts = driftsIn(plan, book.lines)
  const work = { plan, wanted, before, book, judge, clock }
  const { applied, recorded } = await time('apply', () => carryOut(request, work, signal))
  const repairs = repaired(drifts, applied)
  const undone = wanted.refused.length + entriesOf(applied, 'failed', 'waiting').length
  const leaving = { plan, wanted, held: before.held, book: book.lines, undone }
  const { pruned, postponed } = await time('prune', () => pruneWhatLeft(request, leaving, clock, signal))

  const changes = [...applied, ...pruned]
  const waiting = putOff.map(waitsForTurn)
  count(changes, meter)
  if (repairs.length > 0) meter.repaired(repairs.length)
  const held = changes.length === 0 ? recorded.held : exact(before.held, wanted.desired, changes)
  const after = await save(request, recorded, held)
  await book.follow({ kube: destination.kube, judge, desired: wanted.desired, held: after.held })
  const isAsBefore = steady?.held === after.held && isCalm(steady, book, clock)
  const observed = isAsBefore ? steady.observed : observedIn(book.lines, after.held, wanted.byKey, clock.now())
  // What was heard while it was carried out may ask for another plan.
  const idle = isIdle(whole) && edition === book.edition ? plan : undefined
  const now = { wanted, held: after.held, observed, edition: book.edition, plan: idle }
  remember(request, now, undone + plan.prune.length === 0, repairs)
  return {
    commitId: snapshot.commitId,
    changes: [...wanted.refused, ...changes],
    get entries() {
      return [...wanted.refused, ...[...plan.unchanged, ...plan.drifted].map(unchanged), ...changes, ...waiting]
    },
    inventory: after,
    leftBehind,
    observed,
    isYoung: book.isYoung,
    putOff: waiting,
    postponed,
    repairs,
    fights: ledger?.fights.current() ?? [],
    contested: request.wants?.contested(request.owner.id) ?? [],
  }
}

function declare({ wants, owner, destination, snapshot, ledger }: SyncRequest, { keys, refused }: Wanted): void {
  const { server } = destination.kube
  wants?.declare({ owner, server, keys, commitId: snapshot.commitId, news: () => ledger?.ring() })
  for (const entry of refused) wants?.tried(owner.id, server, entry)
}

interface Look {
  judge: Judge
  desired: readonly Desired[]
  held: readonly Held[]
}

/** The state of the objects as watches tell it, read from the server where none does. */
async function bookOf(request: SyncRequest, look: Look, signal?: AbortSignal): Promise<LiveBook> {
  const { ledger, owner, destination } = request
  const { kube } = destination
  const book = ledger?.book ?? createPlainBook(look.judge)
  await book.follow({ kube, ...look })
  const due = request.compare === 'all' ? look.held : request.compare ? book.unwatched(look.held) : []
  if (due.length > 0) book.read(await observe(due, { kube, owner: owner.id, before: book.lines, ...look }, signal))
  return book
}

/** The last pass, if all was in effect after it and nothing else is wanted now. */
function steadyIn({ ledger }: SyncRequest, wanted: Wanted, held: readonly Held[]): Steady | undefined {
  const steady = ledger?.steady
  return steady?.wanted === wanted && steady.held === held ? steady : undefined
}

/** Nothing was heard since then, and the time does not say otherwise. */
const isCalm = (steady: Steady | undefined, book: LiveBook, clock: Clock): boolean =>
  steady?.edition === book.edition && clock.now() < steady.observed.until

const isIdle = (plan: Plan): boolean => plan.apply.length + plan.drifted.length + plan.prune.length === 0

interface Situation {
  wanted: Wanted
  held: readonly Held[]
  steady: Steady | undefined
  book: Book
}

function planFor({ detectOnly, ledger }: SyncRequest, { wanted, held, steady, book }: Situation): Plan {
  const leaves = (key: string) => detectOnly === true || ledger?.fights.isResting(key) === true
  return steady
    ? planOfDrift(held, wanted.byKey, book, leaves)
    : planOf(wanted.desired, held, { keys: wanted.keys, book, leaves })
}

/** Objects that have drifted are set back at the pace of their tenant. */
function inTurn(plan: Plan, { ledger, isAsked = false }: SyncRequest): { plan: Plan; putOff: readonly Desired[] } {
  if (!ledger || plan.repairs.size === 0) return { plan, putOff: [] }
  const repairs = ledger.admitRepairs([...plan.repairs], isAsked)
  if (repairs.size === plan.repairs.size) return { plan, putOff: [] }
  const isPutOff = ({ key }: Desired) => plan.repairs.has(key) && !repairs.has(key)
  const putOff = plan.apply.filter(isPutOff)
  return { plan: { ...plan, apply: plan.apply.filter((item) => !isPutOff(item)), repairs }, putOff }
}

const waitsForTurn = ({ id, source }: Desired): Entry => ({
  id,
  change: 'waiting',
  why: 'was changed in the cluster, and waits: so much is changed all the time that it is set back at a pace',
  source,
})

interface Work {
  plan: Plan
  wanted: Wanted
  before: Inventory
  book: LiveBook
  judge: Judge
  clock: Clock
}

/** Applies, and writes down now and then how far it came. */
async function carryOut(
  request: SyncRequest,
  { plan, wanted, before, book, judge, clock }: Work,
  signal?: AbortSignal,
): Promise<{ applied: readonly Entry[]; recorded: Inventory }> {
  const { destination, owner, wants, taking } = request
  const { kube, podSecurityLabels } = destination
  let recorded = before
  if (plan.apply.length === 0) return { applied: [], recorded }
  const progress = createProgress(clock, async (done) => {
    recorded = await save(request, recorded, exact(before.held, wanted.desired, done))
  })
  const applying: Applying = {
    kube,
    clock,
    owner: owner.id,
    held: before.held,
    set: wanted.isLinked ? wanted.desired : plan.apply,
    refused: wanted.refused,
    book: book.lines,
    wrote: book.wrote,
    standing: (keeper, key) => (taking?.fromOthers ? 'gives' : (wants?.standing(keeper, kube.server, key) ?? 'unknown')),
    taking,
    force: request.force,
    podSecurityLabels,
    ignore: judge.ignore,
    healthOf: (object) => healthOf(object, clock.now(), judge.healthRules),
    told(entry) {
      wants?.tried(owner.id, kube.server, entry)
      progress.note(entry)
    },
    signal,
  }
  const release = request.ledger?.hold()
  const entries = await progress.during(() => apply(plan.apply, applying)).finally(release)
  return { applied: entries.map((entry) => patient(entry, request)), recorded }
}

/** The other sync may be about to give it up, by this very commit. */
function patient(entry: Entry, { isEarly }: SyncRequest): Entry {
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

function remember({ ledger }: SyncRequest, steady: Steady, isAll: boolean, repairs: readonly Repair[]): void {
  if (!ledger) return
  ledger.steady = isAll ? steady : undefined
  for (const { id, fields, by } of repairs) ledger.fights.repaired(id, { drift: fields, by })
}

const unchanged = ({ id, source }: Desired): Entry => ({ id, change: 'unchanged', source })
