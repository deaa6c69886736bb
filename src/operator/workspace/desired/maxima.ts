import { type ResourceQuota, ResourceQuotas } from '../../../api/index.ts'
import { quantity } from '../../../std/index.ts'
import { envelope } from './envelope.ts'
import { amountText } from './own-resources.ts'
import type { WorkspacePlan } from './plan.ts'
import { TUNNEL_RESOURCES } from './tunnel.ts'

/**
 * The maxima of the class as a quota of the namespace. Where others live there, too, it would count them together. What Berth has beside
 * people's containers is not at their expense.
 */
export function quotaOf(plan: WorkspacePlan): ResourceQuota[] {
  const { settings, workspace, tunnel } = plan
  const most = settings.maxResourcesPerWorkspace ?? {}
  const hard = (['requests', 'limits'] as const).flatMap((side) =>
    Object.entries(most[side] ?? {}).map(([what, amount]: [string, string | number]) => {
      const beside = tunnel && quantityIn(TUNNEL_RESOURCES[side], what)
      return [`${side}.${what}`, beside ? amountText(what, quantity(amount) + quantity(beside)) : String(amount)] as const
    }),
  )
  const isShared = Boolean(settings.sharedNamespace) || workspace.spec.target !== undefined
  if (isShared || hard.length === 0) return []
  return [{ ...envelope(plan, ResourceQuotas), spec: { hard: Object.fromEntries(hard) } }]
}

const quantityIn = (amounts: Readonly<Record<string, string>>, what: string): string | undefined => amounts[what]
