import { keyOfId, type ObjectId } from '../../apply/index.ts'
import { type Entry, entriesOf } from '../objects/change-set.ts'
import type { Desired } from '../objects/place.ts'
import type { Book } from '../state/book.ts'
import type { Plan } from './plan.ts'

/** An object that had drifted. */
export interface Repair {
  id: ObjectId
  /** JSON pointers; none where the object was deleted. */
  fields: readonly string[]
  /** Field managers. */
  by: readonly string[]
}

/** What only drifted is recorded already: to write it down again would cost two requests and say nothing new. */
export const newIn = ({ apply, repairs }: Plan): Desired[] => apply.filter(({ key }) => !repairs.has(key))

/** Before they are set back: the answer to the write says nothing of what was there. */
export const driftsIn = ({ apply, repairs }: Plan, book: Book): Repair[] =>
  repairs.size === 0 ? [] : apply.filter(({ key }) => repairs.has(key)).map(({ id }) => driftOf(id, book))

function driftOf(id: ObjectId, book: Book): Repair {
  const line = book.get(keyOfId(id))
  return line?.word === 'there' ? { id, fields: line.drift, by: line.by ?? [] } : { id, fields: [], by: [] }
}

/** Those that really were set back. */
export function repaired(drifts: readonly Repair[], applied: readonly Entry[]): Repair[] {
  const written = new Set(entriesOf(applied, 'created', 'configured').map(({ id }) => keyOfId(id)))
  return drifts.filter(({ id }) => written.has(keyOfId(id)))
}
