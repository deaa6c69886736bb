import type { DeleteHow } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../../api/index.ts'
import { eachOf, Failure, isFailure, seconds } from '../../../std/index.ts'
import { keyOfId, type ObjectId, refOfId, sayIds } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { type Entry, sentenceAbout } from '../objects/change-set.ts'
import { isWithin, type Limits } from '../objects/limits.ts'
import { blockOnAll, failureOf, type Guards, type Judging, judge, keysOf, type PruneBlock } from './guards.ts'
import { type Looking, look, lookAt, type PruneCandidate } from './look.ts'
import { inTurns, type Leaver, type RemovalOutcome } from './turns.ts'

export interface Pruning extends Looking {
  /** As they are now: an object that they leave out is let go. */
  limits?: Limits | undefined
  /** How many objects the repository describes. */
  rendered?: number
  /** Without them the deployment itself is deleted: that is permission for all but what belongs to others. */
  guards?: Guards | undefined
  /** Somebody has confirmed that this commit deletes. */
  confirmed?: boolean | undefined
  propagation?: DeleteHow['propagation']
}

const AT_ONCE = 6
/** Then the rest waits for the next reconcile, so that what was done is written down. */
const BUDGET = seconds(60)

/**
 * Deletes what is to go, in the reverse of the order in which it was applied. An object goes only if it carries our label (look.ts),
 * is not annotated to stay, is within the destination, is wanted by no other sync (leaving.ts), no guard blocks it (guards.ts), and
 * the tenant's own rights allow it. Each object is an entry: what a guard blocks is `withheld`, what is on its way `terminating`,
 * what must not go yet `waiting`. Nothing is waited for here.
 */
export async function prune(leaving: readonly Held[], pruning: Pruning): Promise<Entry[]> {
  if (leaving.length === 0) return []
  const { candidates, entries } = await assess(leaving, pruning)
  await removeInTurns(leaving, candidates, entries, pruning)
  return leaving.flatMap(({ key }) => entries.get(key) ?? [])
}

/** Of these, what is gone or not kept by this sync any more. Nothing is deleted. */
export async function settledByLooking(held: readonly Held[], by: Looking): Promise<Entry[]> {
  const candidates = await look(held, by)
  return held.flatMap((item): Entry[] => {
    const candidate = candidates.get(item.key)
    if (candidate?.state === 'gone') return [{ id: item.id, change: 'pruned' }]
    return candidate?.state === 'kept' ? [{ id: item.id, change: 'skipped', why: candidate.why }] : []
  })
}

interface Assessment {
  candidates: ReadonlyMap<string, PruneCandidate>
  /** By key: what is blocked, kept, gone, out of reach or on its way. What has none is to be deleted. */
  entries: Map<string, Entry>
}

/** Looks at what is to go, and deletes nothing. */
export async function assess(leaving: readonly Held[], pruning: Pruning): Promise<Assessment> {
  const empty = guardEmptyRender(leaving, pruning)
  if (empty) return { candidates: new Map(), entries: new Map(empty.map((entry) => [keyOfId(entry.id), entry])) }
  const isInDestination = ({ id }: Held) => isWithin(id, pruning.limits ?? {})
  const inside = leaving.filter(isInDestination)
  const candidates = await look(inside, pruning)
  const blocks = await blocksOn(inside, candidates, pruning)
  const entries = new Map<string, Entry>()
  for (const held of leaving) {
    const key = held.key
    const block = blocks.get(key)
    const found = () => (block ? withheld(held, block) : entryOf(held, candidates.get(key), pruning))
    const entry = isInDestination(held) ? found() : leftBehind(held)
    if (entry) entries.set(key, entry)
  }
  return { candidates, entries }
}

/** A wrong path and a failing generator look like this: then nothing is deleted, and nothing is let go either. */
export function guardEmptyRender(
  leaving: readonly Held[],
  pruning: Pick<Pruning, 'guards' | 'confirmed' | 'held' | 'rendered'>,
): Entry[] | undefined {
  const block = pruning.rendered === 0 ? blockOnEverything(leaving.length, pruning) : undefined
  return block && leaving.map((held) => withheld(held, block))
}

function blockOnEverything(
  leaving: number,
  { guards, confirmed, held, rendered = 1 }: Pick<Pruning, 'guards' | 'confirmed' | 'held' | 'rendered'>,
): PruneBlock | undefined {
  return guards && !confirmed ? blockOnAll({ leaving, held: held.length, rendered }, guards) : undefined
}

/** By key. What is on its way already cannot be blocked any more, and does not count. */
async function blocksOn(
  leaving: readonly Held[],
  candidates: ReadonlyMap<string, PruneCandidate>,
  pruning: Pruning,
): Promise<Map<string, PruneBlock>> {
  const there = leaving.filter(({ key }) => candidates.get(key)?.state === 'present')
  const all = blockOnEverything(there.length, pruning)
  if (all) return new Map(there.map(({ key }) => [key, all]))
  const judging = judgingOf(leaving, candidates, pruning)
  const blocks = new Map<string, PruneBlock>()
  await eachOf(there, AT_ONCE, async (held) => {
    const key = held.key
    const block = await judge(held, candidates.get(key) ?? { state: 'gone' }, judging)
    if (block) blocks.set(key, block)
  })
  return blocks
}

function judgingOf(leaving: readonly Held[], candidates: ReadonlyMap<string, PruneCandidate>, pruning: Pruning): Judging {
  const { held, confirmed = false, guards } = pruning
  const going = new Set([...keysOf(leaving)].filter((key) => candidates.get(key)?.state !== 'kept'))
  const staying = held.filter(({ key }) => !going.has(key)).map(({ id }) => id)
  return { ...pruning, holds: keysOf(held), staying, confirmed, protectsData: guards !== undefined }
}

const leftBehind = ({ id, uid }: Held): Entry => ({
  id,
  change: 'skipped',
  why:
    uid === undefined
      ? 'was never seen in effect, and is outside the destination as it is now; if it is there, it is left behind'
      : 'is outside the destination as it is now, and left behind',
})

const withheld = ({ id }: Held, block: PruneBlock): Entry => ({
  id,
  change: 'withheld',
  why: block.why,
  failure: failureOf(block),
})

/** The entry of an object that is settled by having looked. */
function entryOf(held: Held, candidate: PruneCandidate | undefined, pruning: Pruning): Entry | undefined {
  const { id } = held
  switch (candidate?.state) {
    case 'gone':
      return { id, change: 'pruned' }
    case 'kept':
      return { id, change: 'skipped', why: candidate.why }
    case 'terminating':
      return { id, change: 'terminating', why: whySlow(candidate.object) }
    case 'unreadable':
      // The tenant was refused when it was to be made, as far as anybody knows: to ask for ever would hold everything up.
      return isFailure(candidate.failure, 'forbidden') && held.uid === undefined
        ? neverSeen(id)
        : failed(held, candidate.failure, pruning)
    default:
      return undefined
  }
}

const neverSeen = (id: ObjectId): Entry => ({
  id,
  change: 'skipped',
  why: 'was never seen in effect and may not be looked at; if it is there, it is left behind',
})

async function removeInTurns(
  leaving: readonly Held[],
  candidates: ReadonlyMap<string, PruneCandidate>,
  entries: Map<string, Entry>,
  pruning: Pruning,
): Promise<void> {
  const { clock, signal } = pruning
  const others = leaving.filter(({ key }) => isInTheWay(entries.get(key)))
  const due = leaving.filter(({ key }) => !entries.has(key))
  const leaverOf = (held: Held): Leaver => leaverFrom(held, candidates.get(held.key))
  const lookAgain = async (held: Held, kind: Kind): Promise<PruneCandidate | Entry> => {
    const candidate = await lookAt(held, kind, pruning)
    const block = await judge(held, candidate, judgingOf(leaving, candidates, pruning))
    return block ? withheld(held, block) : candidate
  }
  const remove = async ({ held }: Leaver): Promise<RemovalOutcome> => {
    const entry = await removeOne(held, candidates.get(held.key), { ...pruning, lookAgain })
    entries.set(held.key, entry)
    return entry.change === 'terminating' ? 'terminating' : isInTheWay(entry) ? 'present' : 'gone'
  }
  const until = clock.now() + BUDGET
  const late = await inTurns({ clock, leavers: due.map(leaverOf), others: others.map(leaverOf), until, remove, signal })
  for (const { leaver, behind } of late) entries.set(leaver.held.key, behindOthers(leaver.held, behind, entries))
}

const isInTheWay = (entry: Entry | undefined): boolean =>
  entry !== undefined && entry.change !== 'pruned' && entry.change !== 'skipped'

function leaverFrom(held: Held, candidate: PruneCandidate | undefined): Leaver {
  const { object, needs, wave } =
    candidate?.state === 'present' || candidate?.state === 'terminating' ? candidate : { object: undefined, needs: [], wave: 0 }
  const { deletionTimestamp } = object?.metadata ?? {}
  return { held, object, needs, wave, since: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) }
}

/** An object that stands behind one that a guard blocks waits for the same confirmation. */
function behindOthers({ id }: Held, behind: readonly ObjectId[], entries: ReadonlyMap<string, Entry>): Entry {
  if (behind.length === 0) return { id, change: 'waiting', why: 'has its turn at the next reconcile' }
  const why = `is deleted when ${sayIds(behind, 3)} ${behind.length === 1 ? 'is' : 'are'} gone`
  const held = behind.map((other) => entries.get(keyOfId(other))).find((entry) => entry?.change === 'withheld')
  const { failure } = held ?? {}
  return failure ? { id, change: 'withheld', why, failure } : { id, change: 'waiting', why }
}

interface Removing extends Pruning {
  /** Looks at an object that has changed since it was judged, and judges it anew. */
  lookAgain: (held: Held, kind: Kind) => Promise<PruneCandidate | Entry>
}

/** One request where a watch vouches for what is there; if it has changed since, it is looked at first. */
async function removeOne(held: Held, candidate: PruneCandidate | undefined, pruning: Removing): Promise<Entry> {
  if (candidate?.state !== 'present') return entryOf(held, candidate, pruning) ?? { id: held.id, change: 'pruned' }
  const { id } = held
  const { uid, kind, version } = candidate
  try {
    // The precondition is what makes this safe: another object of the same name is not ours.
    const bounds = { uid, ...(version && { resourceVersion: version }) }
    const how = { ...bounds, ...(pruning.propagation && { propagation: pruning.propagation }) }
    const answer = await pruning.kube.delete(kind, refOfId(id), how)
    if (answer === 'terminating') return { id, change: 'terminating', why: 'is being deleted', ...(uid && { uid }) }
    return { id, change: 'pruned', ...(uid && { uid }) }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (!version || !isFailure(failure, 'conflict')) return failed(held, failure, pruning)
    const now = await pruning.lookAgain(held, kind)
    return 'change' in now ? now : removeOne(held, now, pruning)
  }
}

function failed({ id }: Held, failure: Failure, { signal }: Pruning): Entry {
  signal?.throwIfAborted()
  return { id, change: 'failed', why: sentenceAbout(id, failure), failure }
}

function whySlow({ kind, metadata: { deletionTimestamp, finalizers = [] } }: AnyObject): string {
  const what = finalizers.length > 0 ? `, waits for finalizers ${finalizers.join(', ')}` : ''
  return `is being deleted since ${deletionTimestamp}${what}${kind === 'Namespace' ? ', with all that is in it' : ''}`
}
