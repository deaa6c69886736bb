import type { Clock } from '../../std/index.ts'
import { type Applying, apply } from './apply.ts'
import { type Book, type Judge, markIn } from './book.ts'
import { type Entry, entriesOf } from './change-set.ts'
import type { Fight } from './fights.ts'
import { GUARDS, type Guards } from './guards.ts'
import { healthOf } from './health/health.ts'
import { exact, type Held, type Inventory, type InventoryStore, isSame, loadFor, superset } from './inventory.ts'
import type { Ledger } from './live/ledgers.ts'
import type { LiveBook } from './live/live-book.ts'
import { createPlainBook } from './live/plain-book.ts'
import { keyOfId, type ObjectId } from './object-id.ts'
import { observe } from './observe.ts'
import type { Desired, Destination, Owner } from './place.ts'
import { type Plan, planOf } from './plan.ts'
import { createProgress } from './progress.ts'
import { emptiness, prune } from './prune.ts'
import type { Render } from './render.ts'
import type { Snapshot } from './source.ts'
import type { Variables } from './variables.ts'
import { type Wanted, wantedOf } from './wanted.ts'
import type { Contested, Wants } from './wants.ts'

export interface SyncRequest {
  snapshot: Snapshot
  /** Directory in the repository. */
  path: string
  destination: Destination
  owner: Owner
  inventory: InventoryStore
  /** What is remembered from the last pass, and kept up to date by watches. Without it, only `compare` looks at the cluster. */
  ledger?: Ledger | undefined
  /** Read what no watch tells about, instead of believing what is recorded. */
  compare?: boolean
  /** How objects are looked at. */
  judge?: Omit<Judge, 'now'>
  /** Whether what was changed in the cluster is only told, not set back. */
  detectOnly?: boolean
  /** Whether objects are deleted and made anew when a field that cannot be changed has changed. */
  force?: boolean
  /** Delete what left the repository; otherwise it is let go. */
  prune?: boolean
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
}

export interface SyncResult {
  commitId: string
  desired: readonly Desired[]
  /** Every object of the sync and what was done with it. */
  entries: readonly Entry[]
  /** What is held now. */
  inventory: Inventory
  /** Objects of an earlier destination that nobody holds any more. */
  leftBehind: readonly Held[]
  /** What is known of the objects now. */
  book: Book
  /** Whether the watches have yet to tell of some of them. */
  isYoung: boolean
  /** What left the repository, and stays until others have said whether they want it. */
  postponed: readonly Held[]
  /** What was changed in the cluster and was set back. */
  repairs: readonly Repair[]
  fights: readonly Fight[]
  /** Objects that another sync wants as well. */
  contested: readonly Contested[]
}

/** An object that had drifted. */
export interface Repair {
  id: ObjectId
  /** JSON pointers; none where the object was deleted. */
  fields: readonly string[]
  /** Field managers. */
  by: readonly string[]
}

export interface Tools {
  render: Render
  clock: Clock
}

/** Brings a destination to where a commit says it should be: render, place, plan, apply, prune, and remember. */
export async function sync(request: SyncRequest, { render, clock }: Tools, signal?: AbortSignal): Promise<SyncResult> {
  const { snapshot, destination, owner, ledger, wants } = request
  const { kube } = destination
  const judge: Judge = { ...request.judge, now: clock.now }
  const wanted = await wantedOf(request, render, ledger ?? {}, signal)
  const { desired, refused, keys } = wanted
  wants?.declare({ owner, server: kube.server, keys, commitId: snapshot.commitId, news: () => ledger?.ring() })
  const { inventory, leftBehind } = await loadFor(kube.server, request.inventory)
  const book = ledger?.book ?? createPlainBook(judge)
  await book.follow({ kube, judge, desired, held: inventory.held })
  if (request.compare) await readUnwatched(request, book, { judge, desired, held: inventory.held }, signal)
  const plan = planOf(desired, inventory.held, { keys, book: book.lines, leaves: leavesOf(request) })

  const before = await save(request, inventory, superset(inventory.held, plan.apply.filter(isNews(plan))))
  const drifts = driftsIn(plan, book.lines)
  let recorded = before
  const progress = createProgress(clock, async (done) => {
    recorded = await save(request, recorded, exact(before.held, desired, done))
  })
  const applying: Applying = {
    kube,
    clock,
    owner: owner.id,
    held: before.held,
    set: desired,
    refused,
    book: book.lines,
    wrote: book.wrote,
    standing: (keeper, key) => wants?.standing(keeper, kube.server, key) ?? 'unknown',
    force: request.force,
    podSecurityLabels: destination.podSecurityLabels,
    ignore: judge.ignore,
    healthOf: (object) => healthOf(object, clock.now(), judge.healthRules),
    told: progress.note,
    signal,
  }
  const entries = await progress.during(() => apply(plan.apply, applying))
  const applied = entries.map((entry) => patient(entry, request))
  const repairs = repaired(drifts, applied, request)
  const undone = refused.length + entriesOf(applied, 'failed', 'waiting').length
  const leaving = { plan, wanted, held: before.held, book: book.lines, undone }
  const { pruned, postponed } = await pruneWhatLeft(request, leaving, clock, signal)

  const all = [...refused, ...[...plan.unchanged, ...plan.drifted].map(unchanged), ...applied, ...pruned]
  const after = await save(request, recorded, exact(before.held, desired, all))
  await book.follow({ kube, judge, desired, held: after.held })
  return {
    commitId: snapshot.commitId,
    desired,
    entries: all,
    inventory: after,
    leftBehind,
    book: book.lines,
    isYoung: book.isYoung,
    postponed,
    repairs,
    fights: ledger?.fights.current() ?? [],
    contested: wants?.contested(owner.id) ?? [],
  }
}

async function readUnwatched(
  { destination: { kube }, owner }: SyncRequest,
  book: LiveBook,
  { judge, desired, held }: { judge: Judge; desired: readonly Desired[]; held: readonly Held[] },
  signal?: AbortSignal,
): Promise<void> {
  const unwatched = book.unwatched(held)
  if (unwatched.length > 0) book.read(await observe(unwatched, { kube, owner: owner.id, judge, desired }, signal))
}

const leavesOf =
  ({ detectOnly, ledger }: SyncRequest) =>
  (key: string): boolean =>
    detectOnly === true || ledger?.fights.isResting(key) === true

/** What only drifted is recorded already: to write it down again would cost two requests and say nothing new. */
const isNews =
  ({ repairs }: Plan) =>
  ({ id }: Desired): boolean =>
    !repairs.has(keyOfId(id))

/** Before they are set back: the answer to the write says nothing of what was there. */
const driftsIn = ({ apply: items, repairs }: Plan, book: Book): Repair[] =>
  items.flatMap(({ id }) => {
    const line = book.get(keyOfId(id))
    if (!repairs.has(keyOfId(id))) return []
    return line?.word === 'there' ? { id, fields: line.drift, by: line.by ?? [] } : { id, fields: [], by: [] }
  })

function repaired(drifts: readonly Repair[], applied: readonly Entry[], { ledger }: SyncRequest): Repair[] {
  const written = new Set(entriesOf(applied, 'created', 'configured').map(({ id }) => keyOfId(id)))
  const done = drifts.filter(({ id }) => written.has(keyOfId(id)))
  for (const { id, fields, by } of done) ledger?.fights.repaired(id, { drift: fields, by })
  return done
}

/** Only where something changed. */
async function save(
  { inventory: store }: Pick<SyncRequest, 'inventory'>,
  before: Inventory,
  held: readonly Held[],
): Promise<Inventory> {
  if (isSame(before.held, held)) return before
  const inventory = { server: before.server, held }
  await store.save(inventory)
  return inventory
}

/** The other sync may be about to give it up, by this very commit. */
function patient(entry: Entry, { isEarly }: SyncRequest): Entry {
  const isWorthWaiting = entry.failure?.reason === 'KeptByOther' && isEarly?.()
  return isWorthWaiting ? { ...entry, change: 'waiting' } : entry
}

interface Pruned {
  pruned: Entry[]
  postponed: readonly Held[]
}

interface Leaving {
  plan: Plan
  wanted: Wanted
  held: readonly Held[]
  book: Book
  /** Objects of this commit that are not in effect. */
  undone: number
}

async function pruneWhatLeft(request: SyncRequest, leaving: Leaving, clock: Clock, signal?: AbortSignal): Promise<Pruned> {
  const { destination, owner, prune: allowed = true, wants, guards = GUARDS, confirmed } = request
  const { kube } = destination
  const handed: Entry[] = []
  const left: Held[] = []
  for (const item of leaving.plan.prune) {
    const heir = wants?.rival(owner.id, kube.server, keyOfId(item.id))
    if (heir) handed.push({ id: item.id, change: 'skipped', why: `left the repository; ${heir.owner.title} has it now` })
    else left.push(item)
  }
  const guarded = { held: leaving.held, rendered: leaving.wanted.rendered, guards, confirmed }
  if (!allowed) return { pruned: [...handed, ...(emptiness(left, guarded) ?? left.map(letGo))], postponed: [] }
  // The new revision may need what the old one brings along, until it is in effect as a whole.
  if (leaving.undone > 0) return { pruned: handed, postponed: [] }
  // It may be on its way to another sync that has not looked at this commit yet.
  if (left.length > 0 && request.isEarly?.()) return { pruned: handed, postponed: left }
  const mark = (key: string) => markIn(leaving.book.get(key))
  const pruned = await prune(left, { ...guarded, kube, clock, owner: owner.id, limits: destination, mark, signal })
  return { pruned: [...handed, ...pruned], postponed: [] }
}

const letGo = ({ id }: Held): Entry => ({ id, change: 'skipped', why: 'left the repository; pruning is off, so it stays' })
const unchanged = ({ id, source }: Desired): Entry => ({ id, change: 'unchanged', source })
