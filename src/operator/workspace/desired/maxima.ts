import { type ResourceQuota, ResourceQuotas, type WorkspaceClassSpec } from '../../../api/index.ts'
import type { Container, Devfile } from '../../../devfile/index.ts'
import { quantity } from '../../../std/index.ts'
import { envelope } from './envelope.ts'
import { appliedAt, isOnlyApplied } from './event-steps.ts'
import { amountText } from './own-resources.ts'
import type { WorkspacePlan } from './plan.ts'
import { resourcesOf } from './rights.ts'
import { TUNNEL_RESOURCES } from './tunnel.ts'

/** Says where a devfile asks for more than its class allows a workspace. The API server would only refuse the pod, much later. */
export function overMaxima(devfile: Devfile, settings: WorkspaceClassSpec): string[] {
  const { maxResourcesPerWorkspace: most = {} } = settings
  const running = devfile.containers.filter((each) => !isOnlyApplied(devfile, each))
  const steps = [...appliedAt(devfile, 'preStart'), ...appliedAt(devfile, 'postStop')]
  return (['requests', 'limits'] as const).flatMap((side) =>
    (['cpu', 'memory'] as const).flatMap((what) => {
      const limit = most[side]?.[what]
      if (limit === undefined) return []
      const field = `${what}${side === 'requests' ? 'Request' : 'Limit'}`
      const amount = (container: Container) => resourcesOf(container, settings)[side]?.[what]
      const missing = [...running, ...steps].filter((each) => amount(each) === undefined)
      const told = [...new Set(missing.map(({ name }) => name))].map(
        (name) => `component "${name}" needs a ${field}, because its class limits it (add it)`,
      )
      const sum = running.reduce((all, each) => all + quantity(amount(each) ?? 0), 0)
      const largest = Math.max(sum, ...steps.map((each) => quantity(amount(each) ?? 0)))
      if (largest <= quantity(limit)) return told
      return [...told, `its containers' ${field} is more than the ${limit} that the class allows a workspace (ask for less)`]
    }),
  )
}

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
