import type { V1ResourceRequirements } from '@kubernetes/client-node'
import type { WorkspaceClassSpec } from '../../../api/index.ts'
import type { Container } from '../../../devfile/index.ts'

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

/** The user and the group of every pod that has the volume: any user but root, for images for workspaces let any user of group 0 work. */
export const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: 5001,
  // Without it, a user of that number in the image would bring a group of its own.
  runAsGroup: 0,
  fsGroup: 0,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
}

/** Nobody is more than the class lets them be. */
export function securityOf({ allowPrivilegeEscalation = false }: WorkspaceClassSpec) {
  const held = { privileged: false, allowPrivilegeEscalation }
  // A user who may become root inside a user namespace needs the capabilities to do so.
  return allowPrivilegeEscalation ? held : { ...held, capabilities: { drop: ['ALL'] } }
}
