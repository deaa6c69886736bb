import { isRecord } from '../../../std/index.ts'
import type { Claims } from './claims.ts'
import { inside } from './path-tree.ts'

/** A counterpart is the same place in the live object, with the claims on it. */
export interface Counterpart {
  readonly live: unknown
  readonly claims: Claims
  /** It goes one step down, by the name of a field or by the place of an element in our list. */
  at(part: string): Counterpart
}

export function counterpartOf(object: unknown, live: unknown, claims: Claims): Counterpart {
  let places: readonly number[] | undefined
  let asked: Map<string, Counterpart> | undefined
  const placeOf = (part: string) => {
    if (!Array.isArray(object)) return part
    places ??= placesOf(object, Array.isArray(live) ? live : [])
    return String(places[Number(part)] ?? part)
  }
  return {
    live,
    claims,
    at(part) {
      asked ??= new Map()
      const before = asked.get(part)
      if (before) return before
      const place = placeOf(part)
      const below = counterpartOf(inside(object, part), inside(live, place), claims.at(live, place))
      asked.set(part, below)
      return below
    },
  }
}

/**
 * It tells where each element of our list is in the live one, and -1 where it is not. An element is found by its name, for others may
 * have put elements before it, and the second of a name is the second there; without a name it is found by its place. No two of ours
 * are the same one there, or what is sent back could be a thousand times as large as what is in the cluster.
 */
function placesOf(ours: readonly unknown[], live: readonly unknown[]): number[] {
  const named = Map.groupBy(live.keys(), (index) => nameOf(live[index]))
  const names = ours.map(nameOf)
  const counts = new Map<string | undefined, number>()
  for (const name of names) counts.set(name, 0)
  return names.map((name, index) => {
    const other = name === undefined ? nameOf(live[index]) : undefined
    if (name === undefined) return other !== undefined && counts.has(other) ? -1 : index
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return named.get(name)?.[count] ?? -1
  })
}

const nameOf = (element: unknown): string | undefined =>
  isRecord(element) && typeof element.name === 'string' ? element.name : undefined
