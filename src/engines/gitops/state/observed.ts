import { type ObjectId, sayId } from '../../apply/index.ts'
import { type Health, type HealthStatus, worse } from '../../health/index.ts'
import type { Held } from '../inventory/inventory.ts'
import type { Desired } from '../objects/place.ts'
import { type Book, healthIn, isAsDesired } from './book.ts'

export interface ObservedObject {
  id: ObjectId
  version: string
  health: Health
  /** JSON pointers of the fields that differ from the repository. */
  drift: readonly string[]
}

export interface Observed {
  /** The worst among the objects. */
  health: Health
  objects: ObservedObject[]
  /** When it would be said in another way without anything being heard: some things get worse by waiting alone. */
  until: number
}

const NONE: readonly string[] = []

/** How everything that is held does. What is not `wanted` waits to be pruned. */
export function observedIn(book: Book, held: readonly Held[], wanted: ReadonlyMap<string, Desired>, now: number): Observed {
  let until = Number.POSITIVE_INFINITY
  const objects = held.map(({ key, id, version }) => {
    const line = book.get(key)
    if (line?.word === 'there' && line.later && line.later.at > now) until = Math.min(until, line.later.at)
    const desired = wanted.get(key)
    const drift = line?.word === 'there' && desired && !isAsDesired(line, desired) ? line.drift : NONE
    return { id, version, health: healthIn(line, now, desired), drift }
  })
  const status = objects.reduce<HealthStatus>((worst, { health }) => worse(worst, health.status), 'Healthy')
  const culprit = objects.find(({ health }) => health.status === status && health.message !== undefined)
  return { health: { status, ...(culprit && { message: `${sayId(culprit.id)} ${culprit.health.message}` }) }, objects, until }
}
