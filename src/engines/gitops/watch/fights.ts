import { type Clock, minutes, seconds } from '../../../std/index.ts'
import { keyOfId, type ObjectId, sayId } from '../../apply/index.ts'
import type { PresentObject } from '../state/object-state.ts'

/** Somebody changes an object again and again, and we set it back as often. */
export interface Fight {
  id: ObjectId
  /** The other field managers. */
  by: readonly string[]
  /** JSON pointers. */
  fields: readonly string[]
  /** How often it was set back. */
  repairs: number
  /** It is left as it is until then. */
  until: number
}

export type Fights = ReturnType<typeof createFights>

/** More repairs than this in a minute are no accident any more. */
const MOST = 5
const PERIOD = minutes(1)
/** The first rest; each one is twice as long as the one before. */
const FIRST_BACKOFF = seconds(10)
const LONGEST_BACKOFF = minutes(10)

interface History {
  times: number[]
  backoffs: number
  fight: Fight
}

/** Knows which objects were set back how often, and when enough is enough. */
export function createFights(clock: Clock) {
  const records = new Map<string, History>()

  const isOver = ({ times, backoffs, fight }: History) => {
    const quiet = backoffs === 0 ? PERIOD : 2 * restOf(backoffs)
    return clock.now() - Math.max(times.at(-1) ?? 0, fight.until) > quiet
  }

  return {
    repaired(id: ObjectId, { by = [], drift }: Pick<PresentObject, 'drift' | 'by'>): void {
      const now = clock.now()
      const key = keyOfId(id)
      const known = records.get(key)
      const before = known && !isOver(known) ? known : undefined
      const times = [...(before?.times ?? []).filter((time) => now - time < PERIOD), now]
      const isFight = times.length > MOST || (before?.backoffs ?? 0) > 0
      const backoffs = (before?.backoffs ?? 0) + (isFight ? 1 : 0)
      const repairs = (before?.fight.repairs ?? 0) + 1
      const managers = [...new Set([...(before?.fight.by ?? []), ...by])]
      const until = isFight ? now + restOf(backoffs) : 0
      records.set(key, { times, backoffs, fight: { id, by: managers, fields: drift, repairs, until } })
    },
    /** Whether it is left as it is for now. */
    isBackingOff: (key: string): boolean => (records.get(key)?.fight.until ?? 0) > clock.now(),
    current(): Fight[] {
      for (const [key, history] of records) if (isOver(history)) records.delete(key)
      return [...records.values()].filter(({ backoffs }) => backoffs > 0).map(({ fight }) => fight)
    },
  }
}

const restOf = (backoffs: number): number => Math.min(FIRST_BACKOFF * 2 ** (backoffs - 1), LONGEST_BACKOFF)

/** For people: who, about what, and what to do. */
export const sayFight = ({ id, by, fields, repairs, until }: Fight): string => {
  const who = by.length > 0 ? by.join(', ') : 'somebody'
  const what = fields.length > 0 ? `changes ${fields.slice(0, 4).join(', ')}` : 'deletes it'
  const next = new Date(until).toISOString().slice(11, 19)
  return `${sayId(id)}: ${who} ${what} again and again; it was set back ${repairs} times, the next time at ${next} UTC. Let only one of the two manage it: stop the other, or name the fields in spec.ignore`
}
