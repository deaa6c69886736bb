import { type ResourceQuota, ResourceQuotas } from '../../../api/index.ts'
import { envelope } from './envelope.ts'
import type { Plan } from './plan.ts'

/** What the class allows a workspace, for its namespace. Where others live there, too, it would count them together. */
export function quotaOf(plan: Plan): ResourceQuota[] {
  const { settings, workspace } = plan
  const { requests, limits } = settings.maxResourcesPerWorkspace ?? {}
  const hard = { ...prefixed('requests', requests), ...prefixed('limits', limits) }
  const isShared = Boolean(settings.sharedNamespace) || workspace.spec.target !== undefined
  if (isShared || Object.keys(hard).length === 0) return []
  return [{ ...envelope(plan, ResourceQuotas), spec: { hard } }]
}

const prefixed = (prefix: string, quantities: Record<string, number | string | undefined> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(quantities).flatMap(([name, value]) => (value === undefined ? [] : [[`${prefix}.${name}`, String(value)]])),
  )
