import type { WorkspaceSpec, WorkspaceStatus } from './generated/workspace.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { WorkspaceSpec, WorkspaceStatus }

/** A development environment that runs in a cluster. */
export type Workspace = CustomObject<WorkspaceSpec, WorkspaceStatus>

export const Workspaces: Kind<Workspace> = {
  group: 'berth.dev',
  version: 'v1alpha1',
  kind: 'Workspace',
  plural: 'workspaces',
  namespaced: true,
}
