import type { V1Container, V1PodSpec, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import type { Workspace, WorkspaceClassSpec } from '../../api/index.ts'
import type { Container, Devfile } from '../../devfile/index.ts'
import { variablesOf } from './variables.ts'

/** In the pod template: a later time makes new pods. */
export const RESTARTED_AT = 'berth.dev/restarted-at'

const DATA = 'workspace-data'
/** Any user but root; images for workspaces let any user of group 0 work. */
const USER = 5001
const GRACE_SECONDS = 10

/** The pod of a workspace: nobody is root in it, and it has no way to the target's API. */
export function podOf(
  workspace: Workspace,
  { containers, volumes }: Devfile,
  settings: WorkspaceClassSpec,
  name: string,
): V1PodSpec {
  const variables = variablesOf(workspace, name)
  const ephemeral = volumes.filter((volume) => volume.ephemeral)
  const emptyDirs: V1Volume[] = ephemeral.map((volume) => ({
    name: `volume-${volume.name}`,
    emptyDir: volume.size === undefined ? {} : { sizeLimit: volume.size },
  }))
  const isEphemeral = new Set(ephemeral.map((volume) => volume.name))
  return {
    serviceAccountName: name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...(settings.useKubernetesUserNamespaces && { hostUsers: false }),
    ...(settings.defaultRuntimeClass && { runtimeClassName: settings.defaultRuntimeClass }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      fsGroup: 0,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: [{ name: DATA, persistentVolumeClaim: { claimName: name } }, ...emptyDirs, ...variables.volumes],
    containers: containers.map((container) => withVariables(containerOf(container, settings, isEphemeral), variables)),
  }
}

/** The devfile's own environment wins over the variables of the workspace. */
function withVariables(container: V1Container, { env, mounts }: ReturnType<typeof variablesOf>): V1Container {
  const own = new Set(container.env?.map(({ name }) => name))
  return {
    ...container,
    env: [...env.filter(({ name }) => !own.has(name)), ...(container.env ?? [])],
    volumeMounts: [...(container.volumeMounts ?? []), ...mounts],
  }
}

function containerOf(container: Container, settings: WorkspaceClassSpec, isEphemeral: Set<string>): V1Container {
  const { name, image, args, overrideCommand } = container
  const command = overrideCommand ? ['tail', '-f', '/dev/null'] : container.command
  const places = container.mountSources
    ? [
        { name: 'PROJECTS_ROOT', value: container.sourceMapping },
        { name: 'PROJECT_SOURCE', value: container.sourceMapping },
      ]
    : []
  return {
    name,
    image,
    ...(command.length > 0 && { command }),
    ...(args.length > 0 && { args }),
    env: [...places, ...container.env],
    ports: container.endpoints.map((endpoint) => ({
      name: endpoint.name,
      containerPort: endpoint.targetPort,
      protocol: endpoint.protocol === 'udp' ? 'UDP' : 'TCP',
    })),
    resources: resourcesOf(container, settings),
    volumeMounts: mountsOf(container, isEphemeral),
    securityContext: securityOf(settings),
  }
}

/** The devfile's values win; the class fills in what it leaves out. */
function resourcesOf({ resources }: Container, { defaultResourcesPerWorkspaceContainer: usual }: WorkspaceClassSpec) {
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

/** One volume for all that must last, a folder of it for each use. */
function mountsOf({ mountSources, sourceMapping, volumeMounts }: Container, isEphemeral: Set<string>): V1VolumeMount[] {
  const project = mountSources ? [{ name: DATA, mountPath: sourceMapping, subPath: 'projects' }] : []
  const others = volumeMounts.map(({ name, path }) =>
    isEphemeral.has(name)
      ? { name: `volume-${name}`, mountPath: path }
      : { name: DATA, mountPath: path, subPath: `volumes/${name}` },
  )
  return [...project, ...others]
}

function securityOf({ allowPrivilegeEscalation = false }: WorkspaceClassSpec) {
  const held = { privileged: false, allowPrivilegeEscalation }
  // Who may become root inside a user namespace needs the capabilities to do so.
  return allowPrivilegeEscalation ? held : { ...held, capabilities: { drop: ['ALL'] } }
}
