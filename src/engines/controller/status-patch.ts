import { isDeepStrictEqual } from 'node:util'
import { type Condition, type KubeObject, withConditions } from '../../api/index.ts'
import type { StatusDraft } from './reconcile.ts'

/** The JSON merge patch that makes the object's status equal to the draft; `undefined` when it is already. */
export function statusPatch(object: KubeObject, draft: StatusDraft, now: string): object | undefined {
  const before = statusOf(object)
  const { conditions, ...rest } = draft
  const after: Record<string, unknown> = { ...rest, observedGeneration: object.metadata.generation }
  if (conditions) after.conditions = withConditions(conditionsOf(before), conditions, now)
  else if (before.conditions) after.conditions = before.conditions
  const status = difference(before, after)
  return status && { metadata: { resourceVersion: object.metadata.resourceVersion }, status }
}

function statusOf(object: KubeObject): Record<string, unknown> {
  const status = 'status' in object ? object.status : undefined
  return isRecord(status) ? status : {}
}

const conditionsOf = (status: Record<string, unknown>): Condition[] | undefined => {
  const list = status.conditions
  return Array.isArray(list) ? list : undefined
}

/** RFC 7386: what is gone becomes null, lists are written whole. */
function difference(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = before[key]
    const is = after[key]
    if (isDeepStrictEqual(was, is)) continue
    if (isRecord(was) && isRecord(is)) {
      const inner = difference(was, is)
      if (inner) patch[key] = inner
    } else patch[key] = is ?? null
  }
  return Object.keys(patch).length > 0 ? patch : undefined
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
