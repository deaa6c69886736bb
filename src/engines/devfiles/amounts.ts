import type { WorkspaceClassSpec } from '../../api/index.ts'
import type { Container, Devfile } from '../../devfile/index.ts'
import { quantity } from '../../std/index.ts'
import { appliedAt, runningContainers } from './event-steps.ts'
import { componentAt, type DevfileRefusal } from './refusal.ts'
import { resourcesOf } from './resources.ts'

/** Where a devfile asks for more than its class allows a workspace. The API server would only refuse the pod, much later. */
export function overMaxima(devfile: Devfile, settings: WorkspaceClassSpec): DevfileRefusal[] {
  const { maxResourcesPerWorkspace: most = {} } = settings
  const running = runningContainers(devfile)
  const steps = [...appliedAt(devfile, 'preStart'), ...appliedAt(devfile, 'postStop')]
  return (['requests', 'limits'] as const).flatMap((side) =>
    (['cpu', 'memory'] as const).flatMap((what) => {
      const limit = most[side]?.[what]
      if (limit === undefined) return []
      const field = `${what}${side === 'requests' ? 'Request' : 'Limit'}`
      const textOf = (container: Container) => resourcesOf(container, settings)[side]?.[what]
      const amountOf = (container: Container) => quantity(textOf(container) ?? 0)
      const missing = [...running, ...steps].filter((each) => textOf(each) === undefined)
      const told = [...new Set(missing.map(({ name }) => name))].map((name) => ({
        at: componentAt(name, 'container', field),
        message: `component "${name}" needs a ${field}, because its class limits it`,
        remedy: 'add it',
      }))
      const sum = running.reduce((all, each) => all + amountOf(each), 0)
      const largest = Math.max(sum, ...steps.map(amountOf))
      if (largest <= quantity(limit)) return told
      const asking = largest === sum ? running : steps.filter((each) => amountOf(each) === largest)
      const greatest = asking.reduce((a, b) => (amountOf(b) > amountOf(a) ? b : a))
      const amounts = asking.map((each) => `${each.name}: ${textOf(each) ?? 0}`).join(', ')
      const tooMuch = {
        at: componentAt(greatest.name, 'container', field),
        message: `its containers' ${field} is more than the ${limit} that the class allows a workspace`,
        remedy: `ask for less; ${amounts}`,
      }
      return [...told, tooMuch]
    }),
  )
}

/** Where a container would be guaranteed more than it may use: one of both may come from its class. */
export function crossedAmounts({ name, resources }: Container, settings: WorkspaceClassSpec): DevfileRefusal[] {
  const { requests = {}, limits = {} } = resourcesOf({ resources }, settings)
  return (['cpu', 'memory'] as const)
    .filter((what) => quantity(requests[what] ?? 0) > quantity(limits[what] ?? Number.POSITIVE_INFINITY))
    .map((what) => ({
      at: componentAt(name, 'container', resources[`${what}Request`] === undefined ? `${what}Limit` : `${what}Request`),
      message: `container ${name} would be guaranteed more ${what} (${requests[what]}) than it may use (${limits[what]})`,
      remedy: `set both ${what}Request and ${what}Limit: what the devfile leaves out is the class's`,
    }))
}
