import type { AnyObject } from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'
import type { Held } from './inventory.ts'
import { keyOfId } from './object-id.ts'
import type { Desired } from './place.ts'

/** The objects of a sync as they are in the cluster, by key. */
export type Live = ReadonlyMap<string, AnyObject | Unreadable>

/** The tenant may not read it. What is recorded of it is all there is. */
export type Unreadable = { unreadable: string }

export const isUnreadable = (seen: AnyObject | Unreadable | undefined): seen is Unreadable =>
  seen !== undefined && 'unreadable' in seen

export interface Plan {
  apply: Desired[]
  /** In effect already, as far as is known: costs no request. */
  unchanged: Desired[]
  /** Ours, and no longer in the repository. */
  prune: Held[]
}

/** Pure. With `live` what is recorded is believed only where the cluster agrees. */
export function planOf(desired: readonly Desired[], held: readonly Held[], live?: Live): Plan {
  const known = new Map(held.map((item) => [keyOfId(item.id), item]))
  const wanted = new Set(desired.map(({ id }) => keyOfId(id)))
  const inEffect = (item: Desired): boolean => {
    const key = keyOfId(item.id)
    const record = known.get(key)
    if (record?.hash !== item.hash || record.version !== item.version) return false
    const seen = live?.get(key)
    return live === undefined || isUnreadable(seen) || isAsDesired(item.object, seen)
  }
  return {
    apply: desired.filter((item) => !inEffect(item)),
    unchanged: desired.filter(inEffect),
    prune: held.filter(({ id }) => !wanted.has(keyOfId(id))),
  }
}

/**
 * Whether each field that we set has our value. What others added does not matter. A value that the server writes in
 * another way (`1000m` as `1`) counts as different: one apply that changes nothing is the price, never a missed drift.
 */
export function isAsDesired(desired: unknown, live: unknown): boolean {
  if (isRecord(desired))
    return isRecord(live)
      ? Object.entries(desired).every(([key, value]) => isAsDesired(value, live[key]))
      : live === undefined && Object.values(desired).every((value) => value === null)
  if (Array.isArray(desired))
    return Array.isArray(live) && desired.length === live.length && desired.every((item, index) => isAsDesired(item, live[index]))
  return desired === live || (desired === null && live === undefined)
}
