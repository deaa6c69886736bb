import { isRecord } from '../../../std/index.ts'
import type { FieldOwnership } from './managed-fields.ts'

/**
 * A copy of the value as the server leaves it when fields leave an apply: those that were applied before go, unless somebody else has
 * set them. With an element of a list all goes that is in it.
 * https://pkg.go.dev/sigs.k8s.io/structured-merge-diff/v4/merge#Updater.Apply
 */
export function withoutFields<T>(value: T, applied: FieldOwnership, others: FieldOwnership): T
export function withoutFields(value: unknown, applied: FieldOwnership, others: FieldOwnership): unknown {
  if (!applied.isOwned) return value
  const inside = (part: string, below: unknown) => withoutFields(below, applied.at(value, part), others.at(value, part))
  if (Array.isArray(value))
    return value.flatMap((element, index) => {
      const part = String(index)
      const goes = applied.at(value, part).isItself() && !others.at(value, part).isItself()
      return goes ? [] : [inside(part, element)]
    })
  if (!isRecord(value)) return value
  const left = Object.entries(value).filter(([name]) => !applied.at(value, name).isOwned || others.at(value, name).isOwned)
  return Object.fromEntries(left.map(([name, below]) => [name, inside(name, below)]))
}
