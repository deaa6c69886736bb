import { Failure, isFailure } from '../../../std/index.ts'
import { byKey, refOfId } from '../../apply/index.ts'
import { exact, type Held } from '../inventory/inventory.ts'
import { type Entry, sentenceAbout } from '../objects/change-set.ts'
import { kindOfAny, type SyncContext } from '../objects/context.ts'
import { ended, endOf, type HookEnd, type HookRun, isOfRun, textOf } from '../objects/hook-runs.ts'
import type { Desired } from '../objects/place.ts'
import type { Hooks, Wanted } from '../plan/wanted.ts'
import { healthIn, type ObjectStates } from '../state/object-state.ts'

/** The hooks of one sync. */
export interface SyncHooks extends Hooks {
  readonly run: HookRun
}

/** By key, of this run. */
export function endsIn(held: readonly Held[], { byKey: hooks, run }: SyncHooks): ReadonlyMap<string, HookEnd> {
  const ends = new Map<string, HookEnd>()
  for (const { key, hash } of held) {
    const end = hooks.has(key) && isOfRun(hash, run) ? endOf(hash) : undefined
    if (end) ends.set(key, end)
  }
  return ends
}

/** How many hold up what comes after them. */
export function failedHooks(held: readonly Held[], hooks: SyncHooks | undefined): number {
  if (!hooks) return 0
  return [...endsIn(held, hooks)].filter(([key, end]) => end === 'failed' && hooks.byKey.get(key)?.phase !== 'SyncFail').length
}

/** The inventory after the changes, in which hooks have their run in the place of a hash. */
export function exactWithHooks(
  before: readonly Held[],
  desired: readonly Desired[],
  { entries, hooks }: { entries: readonly Entry[]; hooks: SyncHooks | undefined },
): readonly Held[] {
  const marked = (item: Desired) => (hooks?.byKey.has(item.key) ? { ...item, hash: textOf(hooks.run) } : item)
  return exact(before, hooks && entries.length > 0 ? desired.map(marked) : desired, entries)
}

/** Writes down of the hooks that run how they ended. The very same list where none has. */
export function withEnds(held: readonly Held[], hooks: SyncHooks, { states, wanted, now }: Looking): readonly Held[] {
  const ends = new Map<string, HookEnd>()
  const endOfOne = ({ key, hash }: Held): HookEnd | undefined => {
    const item = wanted.byKey.get(key)
    // It was kept before there were hooks.
    if (hash === item?.hash) return 'succeeded'
    if (endOf(hash) || !isOfRun(hash, hooks.run)) return undefined
    const { status } = healthIn(states.get(key), now, item)
    return status === 'Healthy' ? 'succeeded' : status === 'Degraded' ? 'failed' : undefined
  }
  for (const item of held) {
    const end = hooks.byKey.has(item.key) && item.hash !== undefined ? endOfOne(item) : undefined
    if (end) ends.set(item.key, end)
  }
  if (ends.size === 0) return held
  return held.map((item) => {
    const end = ends.get(item.key)
    return end ? { ...item, hash: withEnd(item.hash, end, hooks.run) } : item
  })
}

/** The run that is written down may be that of a request. */
const withEnd = (hash: string | undefined, end: HookEnd, run: HookRun): string =>
  hash !== undefined && isOfRun(hash, run) ? ended(hash, end) : textOf(run, end)

/** An entry for each hook that runs, and in each sync until it runs again for one that failed. Those for failed syncs hold nothing up. */
export function openHooks(held: readonly Held[], hooks: SyncHooks, { states, wanted, now }: Looking): Entry[] {
  return held.flatMap(({ key, hash }): Entry[] => {
    const hook = hooks.byKey.get(key)
    if (!hook) return []
    const [item, end] = [wanted.byKey.get(key), endOf(hash)]
    if (!item || hook.phase === 'SyncFail' || end === 'succeeded' || !isOfRun(hash, hooks.run)) return []
    const { status, message } = healthIn(states.get(key), now, item)
    const { id, source } = item
    const about = (saying: boolean) => `a ${hook.phase} hook${saying && message !== undefined ? `: ${message}` : ''}`
    if (end === undefined) return [{ id, source, change: 'waiting', why: `is under way, ${about(status !== 'Healthy')}` }]
    const why = `failed, ${about(status === 'Degraded')}; it runs again when what is wanted changes, or when a sync is asked for`
    return [{ id, source, change: 'failed', why, failure: new Failure('invalid', why, { reason: 'HookFailed' }) }]
  })
}

interface Looking {
  states: ObjectStates
  wanted: Wanted
  now: number
}

/**
 * Whether hooks for failed syncs run: something was refused for good, a hook failed, or something waits for what is ill. What only was out
 * of reach is tried again first.
 */
export const isFailed = (entries: readonly Entry[]): boolean =>
  entries.some(({ change, failure, isStuck }) => isStuck || (change === 'failed' && !isFailure(failure, ...PASSING)))

const PASSING = ['unavailable', 'timeout', 'conflict', 'cancelled', 'internal'] as const

/** Deletes the hooks that ended so that their policy says so. They stay in the inventory, by which they do not run again. */
export async function deleteEnded(
  held: readonly Held[],
  hooks: SyncHooks,
  { states, wanted, context }: { states: ObjectStates; wanted: Wanted; context: SyncContext },
): Promise<Entry[]> {
  const records = byKey(held)
  const entries: Entry[] = []
  for (const [key, end] of endsIn(held, hooks)) {
    const [item, record, state] = [wanted.byKey.get(key), records.get(key), states.get(key)]
    if (!item || !record?.uid || !hooks.byKey.get(key)?.deletes[end]) continue
    if (state?.presence !== 'present' || state.uid !== record.uid || state.isTerminating) continue
    entries.push(await deleteOne(item, record.uid, context))
  }
  return entries
}

async function deleteOne({ id, object, source }: Desired, uid: string, { kube }: SyncContext): Promise<Entry> {
  try {
    const kind = await kube.resolve(object.apiVersion, id.kind)
    if (kind) await kube.delete(kindOfAny(kind), refOfId(id), { uid })
    return { id, source, change: 'pruned' }
  } catch (thrown) {
    const failure = Failure.from(thrown)
    const why = `is over and is not deleted: ${sentenceAbout(id, failure)}`
    return { id, source, change: 'failed', why, failure }
  }
}
