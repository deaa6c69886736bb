import type { AnyObject } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'

/** The fields that one manager has set, as the server keeps it. https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
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

/** The fields that either has. */
export function union(a: FieldTree, b: FieldTree): FieldTree {
  const both: FieldTree = { ...a }
  for (const [key, below] of Object.entries(b)) {
    const mine = both[key]
    both[key] = isRecord(mine) && isRecord(below) ? union(mine, below) : (mine ?? below)
  }
  return both
}
