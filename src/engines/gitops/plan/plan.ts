import { byKey, keyOfId, type ObjectId } from '../../apply/index.ts'
import { endsByGoing } from '../../health/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { type Entry, entriesOf } from '../objects/change-set.ts'
import { endOf, type HookRun, isOfRun } from '../objects/hook-runs.ts'
import type { Desired } from '../objects/place.ts'
import { isAsDesired, type ObjectState, type ObjectStates } from '../state/object-state.ts'
import type { Wanted } from './wanted.ts'

export interface SyncPlan {
  apply: Desired[]
  /** Keys of those among them that were in effect and have drifted since. */
  repairs: ReadonlySet<string>
  /** In effect already, as far as is known: costs no request. */
  unchanged: Desired[]
  /** Somebody changed it in the cluster, and it is left so for now. */
  drifted: Desired[]
  /** Ours, and no longer in the repository. */
  prune: Held[]
  /** Hooks that run if the sync fails, and did not yet. */
  onFailure: Desired[]
}

interface Seen {
  /** The objects as they were seen in the cluster. Where nothing was seen, the inventory is believed. */
  states: ObjectStates
  /** Whether all was in effect a pass ago and nothing else is wanted now: then only drift can be new. */
  isSettled: boolean
  /** Whether an object that has drifted is left as it is. */
  keepsDrift: (key: string) => boolean
  /** Of the hooks, where there are some. */
  run?: HookRun | undefined
}

/** Pure. */
export function planOf(
  { desired, byKey: wanted, keys, hooks }: Wanted,
  held: readonly Held[],
  { states, isSettled, keepsDrift, run }: Seen,
): SyncPlan {
  const records = isSettled && !hooks ? undefined : byKey(held)
  const known = isSettled ? undefined : records
  const apply: Desired[] = []
  const unchanged: Desired[] = []
  const drifted: Desired[] = []
  const onFailure: Desired[] = []
  const repairs = new Set<string>()
  for (const item of isSettled ? held.map(({ key }) => wanted.get(key)) : desired) {
    if (!item) continue
    const { key } = item
    const record = records?.get(key)
    const state = states.get(key)
    const hook = hooks?.byKey.get(key)
    if (hook && run) {
      const list = isDue(item, { record, state, run }) ? (hook.phase === 'SyncFail' ? onFailure : apply) : unchanged
      list.push(item)
    } else if (known && (record?.hash !== item.hash || record.version !== item.version)) apply.push(item)
    else if (!state || isAsDesired(state, item)) unchanged.push(item)
    else if (keepsDrift(key)) drifted.push(item)
    else {
      apply.push(item)
      repairs.add(key)
    }
  }
  // An object that the repository describes and that may not be applied did not leave.
  return { apply, repairs, unchanged, drifted, prune: isSettled ? [] : held.filter(({ key }) => !keys.has(key)), onFailure }
}

interface LastRun {
  record: Held | undefined
  state: ObjectState | undefined
  run: HookRun
}

/**
 * A hook runs once, also when it was deleted since it ended; one that was deleted before begins again. What was kept as an ordinary object
 * by a version of Berth without hooks, and is in effect, has done its work.
 */
function isDue({ object, hash }: Desired, { record, state, run }: LastRun): boolean {
  if (record?.hash === hash) return false
  if (!isOfRun(record?.hash, run)) return true
  return endOf(record?.hash) === undefined && state?.presence === 'absent' && !endsByGoing(object)
}

/** An object that had drifted. */
export interface Repair {
  id: ObjectId
  /** JSON pointers; none where the object was deleted. */
  fields: readonly string[]
  /** Field managers. */
  by: readonly string[]
}

/** An object that only drifted is recorded already: to write it down again would cost two requests and say nothing new. */
export const newIn = ({ apply, repairs }: SyncPlan): Desired[] => apply.filter(({ key }) => !repairs.has(key))

/** Before they are set back: the answer to the write says nothing of what was there. */
export const driftsIn = ({ apply, repairs }: SyncPlan, states: ObjectStates): Repair[] =>
  repairs.size === 0 ? [] : apply.filter(({ key }) => repairs.has(key)).map(({ id }) => recordedDrift(id, states))

function recordedDrift(id: ObjectId, states: ObjectStates): Repair {
  const state = states.get(keyOfId(id))
  return state?.presence === 'present' ? { id, fields: state.drift, by: state.by ?? [] } : { id, fields: [], by: [] }
}

/** Those that really were set back. */
export function repaired(drifts: readonly Repair[], applied: readonly Entry[]): Repair[] {
  const written = new Set(entriesOf(applied, 'created', 'configured').map(({ id }) => keyOfId(id)))
  return drifts.filter(({ id }) => written.has(keyOfId(id)))
}
