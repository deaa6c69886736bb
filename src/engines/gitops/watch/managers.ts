import type { AnyObject } from '../../../api/index.ts'
import { partsOf } from '../../apply/index.ts'
import { claimOn, claimsOf } from '../fields/claims.ts'
import { managedEntriesOf } from '../fields/managed-fields.ts'

/**
 * Who gave these fields their value: the field managers that own them, ours left out. Where none owns them (a field was
 * removed), whoever wrote last.
 */
export function managersOf(object: AnyObject, pointers: readonly string[], ours: string): string[] {
  const others = managedEntriesOf(object).filter(({ manager }) => manager !== ours)
  const places = pointers.map(partsOf)
  const owners = others.filter(({ fields }) => {
    const claims = claimsOf([fields])
    return places.some((parts) => claimOn(claims, object, parts) !== 'none')
  })
  const latest = others.toSorted((a, b) => (String(a.raw.time) < String(b.raw.time) ? 1 : -1)).slice(0, 1)
  return [...new Set((owners.length > 0 ? owners : latest).map(({ manager }) => manager))]
}
