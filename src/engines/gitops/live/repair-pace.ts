import { type Buckets, type Rate, seconds } from '../../../std/index.ts'

/**
 * What the syncs of one tenant set back of what was changed in the cluster. Ten thousand objects that were deleted by mistake are there again
 * at once. To set back what somebody goes on changing takes the API server as much as each change, at everybody's cost.
 */
export const REPAIRS: Rate = { burst: 10_000, perSecond: 100 }

/** Whoever asks for a sync has as much again done at once. */
const ADVANCE = seconds(REPAIRS.burst / REPAIRS.perSecond)

/** Of what has drifted in a sync, by key, what is set back now. */
export type AdmitRepairs = (keys: readonly string[], isAsked: boolean) => ReadonlySet<string>

/** Where not all may, it is the turn of those that had none for longest: an object that is refused each time keeps no other waiting. */
export function createRepairPace(repairs: Buckets, tenant: string): AdmitRepairs {
  let turns = new Map<string, number>()
  let pass = 0
  return (keys, isAsked) => {
    let room = 0
    while (room < keys.length && repairs.wait(tenant) <= (isAsked ? ADVANCE : 0)) {
      repairs.spend(tenant, 1)
      room++
    }
    pass++
    if (room === keys.length) {
      turns = new Map()
      return new Set(keys)
    }
    const turnOf = (key: string) => turns.get(key) ?? 0
    const now = new Set([...keys].sort((one, other) => turnOf(one) - turnOf(other)).slice(0, room))
    turns = new Map(keys.map((key) => [key, now.has(key) ? pass : turnOf(key)]))
    return now
  }
}
