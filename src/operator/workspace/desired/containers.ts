import type { V1Container, V1ContainerPort, V1EnvVar } from '@kubernetes/client-node'
import type { Container, EnvVar } from '../../../devfile/index.ts'
import { resourcesOf } from '../../../engines/devfiles/index.ts'
import { withEditor } from './editor.ts'
import { idleCommand } from './form.ts'
import { homeEnvOf, homeMountsOf } from './home.ts'
import { withContainerOverrides } from './overrides.ts'
import { fitted } from './parts.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { probeOf } from './probes.ts'
import { securityOf } from './rights.ts'
import { lifecycleOf } from './scripts.ts'
import { turnsProbeOf } from './turns.ts'
import { mountsOf } from './volumes.ts'

export interface Running {
  container: Container
  additions: readonly Addition[]
  /** Seconds. */
  startLimit: number
}

/** A container that runs as long as the workspace does. */
export function containerOf(plan: WorkspacePlan, { container, startLimit, ...rest }: Running): V1Container {
  const additions = rest.additions.filter(({ only }) => only === undefined || only === container.name)
  const startupProbe = turnsProbeOf(plan, container, startLimit) ?? probeOf(plan, container, startLimit)
  return {
    ...bodyOf(plan, withEditor(plan, container), additions),
    ...lifecycleOf(plan, container),
    ...(startupProbe && { startupProbe }),
    ports: portsOf(container),
  }
}

/** The same container as a step before or after the others. A component can be both, so the step has a name of its own. */
export function stepContainerOf(plan: WorkspacePlan, container: Container, all: readonly Addition[], step: string): V1Container {
  const additions = all.filter(({ only }) => only === undefined)
  // A container that comes to its end is not asked whether it is well.
  const { livenessProbe: _, readinessProbe: __, ...body } = bodyOf(plan, container, additions)
  return { ...body, name: fitted(`${step}-${container.name}`) }
}

function bodyOf(plan: WorkspacePlan, container: Container, additions: readonly Addition[]): V1Container {
  const { settings, devfile, git } = plan
  const { name, image, args, overrideCommand } = container
  const envFrom = additions.flatMap(({ envFrom: added = [] }) => added)
  const command = overrideCommand ? idleCommand(plan) : container.command
  const body = {
    name,
    image,
    ...(command.length > 0 && { command }),
    ...(args.length > 0 && { args }),
    ...(envFrom.length > 0 && { envFrom }),
    env: environmentOf(container, [{ env: homeEnvOf(settings, container) }, ...additions], git?.folder),
    resources: resourcesOf(container, settings),
    volumeMounts: [
      ...mountsOf(container, devfile.volumes),
      ...homeMountsOf(settings, container),
      ...additions.flatMap(({ mounts = [] }) => mounts),
    ],
    securityContext: securityOf(settings),
  }
  return withContainerOverrides(body, container)
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
