import type { Buckets, Rate } from '../../../std/index.ts'

/**
 * What the syncs of one tenant set back of what was changed in the cluster. Ten thousand objects that were deleted by mistake are there again
 * at once. To set back what somebody goes on changing takes the API server as much as each change, at everybody's cost.
 */
export const REPAIRS: Rate = { burst: 10_000, perSecond: 100 }

/** Of what has drifted in a sync, by key, what is set back now. Whoever asks for a sync has as much again of their own. */
export type AdmitRepairs = (keys: readonly string[], isAsked: boolean) => ReadonlySet<string>

export interface RepairBuckets {
  readonly usual: Buckets
  readonly asked: Buckets
}

/** Where not all may, it is the turn of what waited the longest: an object that is refused, or changed, each time keeps no other waiting. */
export function createRepairPace({ usual, asked }: RepairBuckets, tenant: string): AdmitRepairs {
  /** The pass since which each waits. */
  let waiting = new Map<string, number>()
  let pass = 0
  return (keys, isAsked) => {
    const mayOne = () => usual.take(tenant) === 0 || (isAsked && asked.take(tenant) === 0)
    let room = 0
    while (room < keys.length && mayOne()) room++
    pass++
    const sinceOf = (key: string) => waiting.get(key) ?? pass
    const inOrder = room === keys.length ? keys : [...keys].sort((one, other) => sinceOf(one) - sinceOf(other))
    waiting = new Map(inOrder.slice(room).map((key) => [key, sinceOf(key)]))
    return new Set(inOrder.slice(0, room))
  }
}
