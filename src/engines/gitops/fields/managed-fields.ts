import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'

/** Who set which fields of an object, as the server keeps it. https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export interface ManagedEntry {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly subresource: string
  readonly fields: FieldTree
  /** As it came, with what we have no name for. */
  readonly raw: Record<string, unknown>
}

/** `{ 'f:spec': { 'f:replicas': {} } }`; elements of lists by key `k:{"name":"web"}`, value `v:"x"` or place `i:0`. */
export type FieldTree = Record<string, unknown>

export function managedEntriesOf({ metadata }: AnyObject): ManagedEntry[] {
  const list = 'managedFields' in metadata && Array.isArray(metadata.managedFields) ? metadata.managedFields : []
  return list.filter(isRecord).map((raw) => ({
    manager: String(raw.manager ?? ''),
    operation: String(raw.operation ?? ''),
    apiVersion: String(raw.apiVersion ?? ''),
    subresource: String(raw.subresource ?? ''),
    fields: isRecord(raw.fieldsV1) ? raw.fieldsV1 : {},
    raw,
  }))
}

/**
 * How far a manager's claim reaches on the way to a field: `whole` - it set this field or one in it. `above` - it set
 * something larger as one piece, such as a list without keys. `none` - it has nothing to do with it.
 */
export type Claim = 'whole' | 'above' | 'none'

/** `parts` is a JSON pointer into `object`, which is the object that the tree speaks of. */
export function claimOn(fields: FieldTree, object: unknown, parts: readonly string[]): Claim {
  const [part, ...rest] = parts
  if (part === undefined) return 'whole'
  const key = Array.isArray(object) ? elementKey(fields, object, Number(part)) : `f:${part}`
  const below = key === undefined ? undefined : fields[key]
  if (!isRecord(below)) return Object.keys(fields).length === 0 ? 'above' : 'none'
  const next = Array.isArray(object) ? object[Number(part)] : isRecord(object) ? object[part] : undefined
  return claimOn(below, next, rest)
}

/** Which key of the tree speaks of this element of a list. */
function elementKey(fields: FieldTree, list: readonly unknown[], index: number): string | undefined {
  const element = list[index]
  return Object.keys(fields).find((key) => {
    if (key.startsWith('i:')) return key === `i:${index}`
    if (key.startsWith('v:')) return key === `v:${JSON.stringify(element)}`
    if (!key.startsWith('k:') || !isRecord(element)) return false
    const wanted: unknown = JSON.parse(key.slice(2))
    return isRecord(wanted) && Object.entries(wanted).every(([name, value]) => element[name] === value)
  })
}

/** What either has. */
export function union(a: FieldTree, b: FieldTree): FieldTree {
  const both: FieldTree = { ...a }
  for (const [key, below] of Object.entries(b)) {
    const mine = both[key]
    both[key] = isRecord(mine) && isRecord(below) ? union(mine, below) : (mine ?? below)
  }
  return both
}
