import type { V1Container, V1ContainerPort, V1EnvVar, V1ResourceRequirements } from '@kubernetes/client-node'
import type { WorkspaceClassSpec } from '../../../api/index.ts'
import type { Container, EnvVar } from '../../../devfile/index.ts'
import { fitted } from './fitted.ts'
import type { Addition, Plan } from './plan.ts'
import { lifecycleOf } from './scripts.ts'
import { mountsOf } from './volumes.ts'

/** A container that runs as long as the workspace does. */
export function containerOf(plan: Plan, container: Container, additions: readonly Addition[]): V1Container {
  return { ...bodyOf(plan, container, additions), ...lifecycleOf(plan, container), ports: portsOf(container) }
}

/** The same container as a step before the others. A component can be both, so the step has a name of its own. */
export function initContainerOf(plan: Plan, container: Container, additions: readonly Addition[], step: number): V1Container {
  return { ...bodyOf(plan, container, additions), name: fitted(`prestart-${step}-${container.name}`) }
}

function bodyOf({ settings, devfile, git }: Plan, container: Container, additions: readonly Addition[]): V1Container {
  const { name, image, args, overrideCommand } = container
  const envFrom = additions.flatMap(({ envFrom: added = [] }) => added)
  const command = overrideCommand ? ['tail', '-f', '/dev/null'] : container.command
  return {
    name,
    image,
    ...(command.length > 0 && { command }),
    ...(args.length > 0 && { args }),
    ...(envFrom.length > 0 && { envFrom }),
    env: environmentOf(container, additions, git?.folder),
    resources: resourcesOf(container, settings),
    volumeMounts: [...mountsOf(container, devfile.volumes), ...additions.flatMap(({ mounts = [] }) => mounts)],
    securityContext: securityOf(settings),
  }
}

/** A name has one value: the devfile's, else that of whatever was added last. */
function environmentOf(
  { env, mountSources, sourceMapping }: Container,
  additions: readonly Addition[],
  project: string | undefined,
): V1EnvVar[] {
  const places: EnvVar[] = mountSources
    ? [
        { name: 'PROJECTS_ROOT', value: sourceMapping },
        { name: 'PROJECT_SOURCE', value: project === undefined ? sourceMapping : `${sourceMapping}/${project}` },
      ]
    : []
  const all: V1EnvVar[] = [...places, ...additions.flatMap(({ env: added = [] }) => added), ...env]
  return [...new Map(all.map((each) => [each.name, each])).values()]
}

/** By port and protocol: two endpoints of one port are one port of the container. */
function portsOf({ endpoints }: Container): V1ContainerPort[] {
  const ports = new Map<string, V1ContainerPort>()
  for (const { name, targetPort, protocol: spoken } of endpoints) {
    const protocol = spoken === 'udp' ? 'UDP' : 'TCP'
    const key = `${protocol} ${targetPort}`
    if (!ports.has(key)) ports.set(key, { ...(isPortName(name) && { name }), containerPort: targetPort, protocol })
  }
  return [...ports.values()]
}

/** Kubernetes wants a letter in it and no two dashes in a row; a devfile does not. */
const isPortName = (name: string): boolean => /[a-z]/.test(name) && !name.includes('--')

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

export function securityOf({ allowPrivilegeEscalation = false }: WorkspaceClassSpec) {
  const held = { privileged: false, allowPrivilegeEscalation }
  // Who may become root inside a user namespace needs the capabilities to do so.
  return allowPrivilegeEscalation ? held : { ...held, capabilities: { drop: ['ALL'] } }
}
