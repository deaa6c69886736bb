import type { V1ResourceRequirements } from '@kubernetes/client-node'
import type { WorkspaceClassSpec } from '../../api/index.ts'
import type { Container, Devfile, Resources } from '../../devfile/index.ts'
import { CONTAINER_OVERRIDES, fieldsIn } from './override-rules.ts'

/** The devfile's values win; the class fills in what it leaves out. */
export function resourcesOf(
  { resources }: Pick<Container, 'resources'>,
  { defaultResourcesPerWorkspaceContainer: usual }: WorkspaceClassSpec,
): V1ResourceRequirements {
  const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = resources
  const requests = {
    ...textsOf(usual?.requests),
    ...(cpuRequest && { cpu: cpuRequest }),
    ...(memoryRequest && { memory: memoryRequest }),
  }
  const limits = { ...textsOf(usual?.limits), ...(cpuLimit && { cpu: cpuLimit }), ...(memoryLimit && { memory: memoryLimit }) }
  return { requests, limits }
}

const textsOf = (quantities: Record<string, number | string | undefined> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(quantities).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))

const FIELDS: Readonly<Record<string, { requests: keyof Resources; limits: keyof Resources }>> = {
  cpu: { requests: 'cpuRequest', limits: 'cpuLimit' },
  memory: { requests: 'memoryRequest', limits: 'memoryLimit' },
}

/** True for those that a component has fields of its own for. */
export const isOwnResource = (name: string): boolean => Object.hasOwn(FIELDS, name)

/** Processor and memory count as if the component's own fields said them: for the limits of the class, and for a resize. */
export const withResources = (devfile: Devfile): Devfile => ({
  ...devfile,
  containers: devfile.containers.map((container) => {
    const resources = { ...container.resources }
    for (const side of ['requests', 'limits'] as const) {
      const given = fieldsIn(container.attributes[CONTAINER_OVERRIDES], 'resources', side)
      for (const [name, field] of Object.entries(FIELDS)) {
        if (given[name] === null) delete resources[field[side]]
        else if (given[name] !== undefined) resources[field[side]] = String(given[name])
      }
    }
    return { ...container, resources }
  }),
})
