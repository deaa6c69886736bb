import { byKey, keyOfId, type ObjectId } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { type Entry, entriesOf } from '../objects/change-set.ts'
import type { Desired } from '../objects/place.ts'
import { isAsDesired, type ObjectStates } from '../state/object-state.ts'

export interface Plan {
  apply: Desired[]
  /** Keys of those among them that were in effect and have drifted since. */
  repairs: ReadonlySet<string>
  /** In effect already, as far as is known: costs no request. */
  unchanged: Desired[]
  /** Somebody changed it in the cluster, and it is left so for now. */
  drifted: Desired[]
  /** Ours, and no longer in the repository. */
  prune: Held[]
}

interface Planning {
  /** All that the repository describes, also what may not be applied: it did not leave. Without it, what is desired. */
  keys?: ReadonlySet<string>
  /** As the objects were seen in the cluster. Where nothing was seen, the inventory is believed. */
  states?: ObjectStates
  /** Whether what has drifted is left as it is; without it, it is set back. */
  leaves?: (key: string) => boolean
}

/** Pure. Where all was in effect a pass ago and nothing else is wanted, only what drifted can be new. */
export function planOfDrift(
  held: readonly Held[],
  wanted: ReadonlyMap<string, Desired>,
  states: ObjectStates,
  leaves: (key: string) => boolean,
): Plan {
  const apply: Desired[] = []
  const unchanged: Desired[] = []
  const drifted: Desired[] = []
  const repairs = new Set<string>()
  for (const { key } of held) {
    const desired = wanted.get(key)
    const state = states.get(key)
    if (!desired) continue
    if (!state || isAsDesired(state, desired)) unchanged.push(desired)
    else if (leaves(key)) drifted.push(desired)
    else {
      apply.push(desired)
      repairs.add(key)
    }
  }
  return { apply, repairs, unchanged, drifted, prune: [] }
}

/** Pure. */
export function planOf(desired: readonly Desired[], held: readonly Held[], planning: Planning = {}): Plan {
  const { states, leaves, keys = new Set(desired.map(({ key }) => key)) } = planning
  const known = byKey(held)
  const apply: Desired[] = []
  const unchanged: Desired[] = []
  const drifted: Desired[] = []
  const repairs = new Set<string>()
  for (const item of desired) {
    const { key } = item
    const record = known.get(key)
    const state = states?.get(key)
    if (record?.hash !== item.hash || record.version !== item.version) apply.push(item)
    else if (!state || isAsDesired(state, item)) unchanged.push(item)
    else if (leaves?.(key)) drifted.push(item)
    else {
      apply.push(item)
      repairs.add(key)
    }
  }
  return { apply, repairs, unchanged, drifted, prune: held.filter(({ key }) => !keys.has(key)) }
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
export const newIn = ({ apply, repairs }: Plan): Desired[] => apply.filter(({ key }) => !repairs.has(key))

/** Before they are set back: the answer to the write says nothing of what was there. */
export const driftsIn = ({ apply, repairs }: Plan, states: ObjectStates): Repair[] =>
  repairs.size === 0 ? [] : apply.filter(({ key }) => repairs.has(key)).map(({ id }) => driftOf(id, states))

function driftOf(id: ObjectId, states: ObjectStates): Repair {
  const state = states.get(keyOfId(id))
  return state?.presence === 'present' ? { id, fields: state.drift, by: state.by ?? [] } : { id, fields: [], by: [] }
}

/** Those that really were set back. */
export function repaired(drifts: readonly Repair[], applied: readonly Entry[]): Repair[] {
  const written = new Set(entriesOf(applied, 'created', 'configured').map(({ id }) => keyOfId(id)))
  return drifts.filter(({ id }) => written.has(keyOfId(id)))
}
