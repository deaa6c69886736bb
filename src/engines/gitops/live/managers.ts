import type { AnyObject } from '../../../api/index.ts'
import { claimOn, managedEntriesOf } from '../fields/managed-fields.ts'
import { partsOf } from '../fields/pointer.ts'

/**
 * Who gave these fields their value: the field managers that own them, ours left out. Where none owns them (a field was
 * removed), whoever wrote last.
 */
export function managersOf(object: AnyObject, pointers: readonly string[], ours: string): string[] {
  const others = managedEntriesOf(object).filter(({ manager }) => manager !== ours)
  const owners = others.filter(({ fields }) => pointers.some((pointer) => claimOn(fields, object, partsOf(pointer)) !== 'none'))
  const latest = others.toSorted((a, b) => (String(a.raw.time) < String(b.raw.time) ? 1 : -1)).slice(0, 1)
  return [...new Set((owners.length > 0 ? owners : latest).map(({ manager }) => manager))]
}
