import { type Condition, type KubeObject, withConditions } from '../../api/index.ts'
import { isRecord, mergePatch } from '../../std/index.ts'
import type { StatusDraft } from './reconcile.ts'

/** The JSON merge patch that makes the object's status equal to the draft; `undefined` when it is already. */
export function statusPatch(object: KubeObject, draft: StatusDraft, now: string): object | undefined {
  const before = statusOf(object)
  const { conditions, ...rest } = draft
  const after: Record<string, unknown> = { ...rest, observedGeneration: object.metadata.generation }
  if (conditions) after.conditions = withConditions(conditionsOf(before), conditions, now)
  else if (before.conditions) after.conditions = before.conditions
  const status = mergePatch(before, after)
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
