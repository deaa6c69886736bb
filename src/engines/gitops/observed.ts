import { type Book, healthIn, isAsDesired } from './book.ts'
import { type Health, type HealthStatus, worse } from './health/verdict.ts'
import type { Held } from './inventory.ts'
import { keyOfId, type ObjectId, sayId } from './object-id.ts'
import type { Desired } from './place.ts'

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
}

/** How everything that is held does. */
export function observedIn(book: Book, held: readonly Held[], desired: readonly Desired[]): Observed {
  const wanted = new Map(desired.map((item) => [keyOfId(item.id), item]))
  const objects = held.map(({ id, version }) => {
    const key = keyOfId(id)
    const line = book.get(key)
    const target = wanted.get(key)
    const drift = line?.word === 'there' && target && !isAsDesired(line, target) ? line.drift : []
    return { id, version, health: healthIn(line, target), drift }
  })
  const status = objects.reduce<HealthStatus>((worst, { health }) => worse(worst, health.status), 'Healthy')
  const culprit = objects.find(({ health }) => health.status === status && health.message !== undefined)
  return { health: { status, ...(culprit && { message: `${sayId(culprit.id)} ${culprit.health.message}` }) }, objects }
}
