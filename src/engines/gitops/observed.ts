import { type Book, healthIn, isAsDesired } from './book.ts'
import { type Health, type HealthStatus, worse } from './health/verdict.ts'
import type { Held } from './inventory.ts'
import { keyOfId, type ObjectId, sayId } from './object-id.ts'
import type { Desired } from './place.ts'

/** An object that is held, with what it should be; `desired` is missing where it waits to be pruned. */
export interface Row {
  key: string
  id: ObjectId
  version: string
  desired: Desired | undefined
}

export function rowsOf(held: readonly Held[], desired: readonly Desired[]): Row[] {
  const wanted = new Map(desired.map((item) => [keyOfId(item.id), item]))
  return held.map(({ id, version }) => {
    const key = keyOfId(id)
    return { key, id, version, desired: wanted.get(key) }
  })
}

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

const NONE: readonly string[] = []

/** How everything that is held does. */
export function observedIn(book: Book, rows: readonly Row[], now: number): Observed {
  const objects = rows.map(({ key, id, version, desired }) => {
    const line = book.get(key)
    const drift = line?.word === 'there' && desired && !isAsDesired(line, desired) ? line.drift : NONE
    return { id, version, health: healthIn(line, now, desired), drift }
  })
  const status = objects.reduce<HealthStatus>((worst, { health }) => worse(worst, health.status), 'Healthy')
  const culprit = objects.find(({ health }) => health.status === status && health.message !== undefined)
  return { health: { status, ...(culprit && { message: `${sayId(culprit.id)} ${culprit.health.message}` }) }, objects }
}
