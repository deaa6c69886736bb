import type { V1ResourceRequirements } from '@kubernetes/client-node'
import type { Container } from '../../../devfile/index.ts'
import { resourcesOf, runningContainers } from '../../../engines/devfiles/index.ts'
import { quantity } from '../../../std/index.ts'
import { fitsMaxima } from './form.ts'
import type { WorkspacePlan } from './plan.ts'

type Plan = Pick<WorkspacePlan, 'settings' | 'devfile' | 'form'>
type Side = 'requests' | 'limits'

/** Asked for where a limit has to be said and nothing else is known: without a request it would be as much as the limit. */
const LEAST = { cpu: '50m', memory: '64Mi' }

/**
 * What Berth's own containers have, which run before those of a pod: what they wish, within what the class allows the workspace. A
 * quota wants every amount to be said that it limits: who wishes nothing asks for as much as its pod does anyway, and may take what
 * other pods leave. `pod` are the containers that run in it later, the main pod's if nothing is said.
 */
export function ownResourcesOf(
  plan: Plan,
  wishes: V1ResourceRequirements = resourcesOf({ resources: {} }, plan.settings),
  pod: readonly Container[] = runningContainers(plan.devfile).filter(({ dedicatedPod }) => !dedicatedPod),
): V1ResourceRequirements {
  const { settings } = plan
  const most = settings.maxResourcesPerWorkspace ?? {}
  if (!fitsMaxima(plan) || (!most.requests && !most.limits)) return wishes
  const others = runningContainers(plan.devfile).filter((each) => !pod.includes(each))
  const own = { requests: { ...wishes.requests }, limits: { ...wishes.limits } }
  for (const what of ['cpu', 'memory'] as const) {
    const sum = (containers: readonly Container[], side: Side) =>
      containers.reduce((all, each) => all + quantity(resourcesOf(each, settings)[side]?.[what] ?? 0), 0)
    const room = (side: Side) => quantity(most[side]?.[what] ?? Number.POSITIVE_INFINITY) - sum(others, side)
    const fit = (side: Side, amount: number, ceiling: number) => {
      if (own[side][what] === undefined || amount > ceiling) own[side][what] = amountText(what, Math.min(amount, ceiling))
    }
    if (most.limits?.[what] !== undefined) fit('limits', quantity(own.limits[what] ?? room('limits')), room('limits'))
    const limit = own.limits[what]
    if (most.requests?.[what] === undefined && limit === undefined) continue
    const wish = own.requests[what] ?? (sum(pod, 'requests') || LEAST[what])
    fit('requests', quantity(wish), Math.min(room('requests'), quantity(limit ?? Number.POSITIVE_INFINITY)))
  }
  return own
}

/** Processors in thousandths, everything else by the byte. */
export const amountText = (what: string, amount: number): string =>
  what === 'cpu' ? `${Math.floor(amount * 1000)}m` : String(Math.floor(amount))
