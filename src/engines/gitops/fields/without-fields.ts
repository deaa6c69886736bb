import { isRecord } from '../../../std/index.ts'
import type { FieldOwnership } from './managed-fields.ts'

interface Leaving {
  /** What was applied before. */
  readonly taken: FieldOwnership
  /** The part of it where a mapping that was set itself is a key that no schema names: of what was set by Apply. */
  readonly keys: FieldOwnership
  readonly kept: FieldOwnership
}

/**
 * A copy of the value as the server leaves it when fields leave an apply: those that were applied before go, unless somebody else has
 * set them. With an element of a list, and with a key that no schema names, all goes that is in it. What is emptied so is null.
 * https://pkg.go.dev/sigs.k8s.io/structured-merge-diff/v4/merge#Updater.Apply
 */
export function withoutFields<T>(value: T, leaving: Leaving): T
export function withoutFields(value: unknown, leaving: Leaving): unknown {
  if (!leaving.taken.isOwned) return value
  const stepInto = (part: string): Leaving => ({
    taken: leaving.taken.at(value, part),
    keys: leaving.keys.at(value, part),
    kept: leaving.kept.at(value, part),
  })
  if (Array.isArray(value)) {
    const left = value.flatMap((element, index) => {
      const below = stepInto(String(index))
      return below.taken.isItself() && !below.kept.isItself() ? [] : [withoutFields(element, below)]
    })
    return left.length === 0 && value.length > 0 ? null : left
  }
  if (!isRecord(value)) return value
  const fields = Object.entries(value)
  const left = fields.flatMap(([name, content]) => {
    const below = stepInto(name)
    return fieldGoes(below) ? [] : [[name, withoutFields(content, below)] as const]
  })
  return left.length === 0 && fields.length > 0 ? null : Object.fromEntries(left)
}

const fieldGoes = ({ taken, keys, kept }: Leaving): boolean =>
  taken.isOwned && (!kept.isOwned || (keys.isItself() && !kept.isItself()))
