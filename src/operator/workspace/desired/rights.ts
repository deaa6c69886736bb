import type { WorkspaceClassSpec } from '../../../api/index.ts'

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
