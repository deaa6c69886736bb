import type { WorkspaceClassSpec, WorkspaceClassStatus } from './generated/workspace-class.ts'
import type { CustomObject, Kind } from './kube-object.ts'

export type { WorkspaceClassSpec, WorkspaceClassStatus }

/** Settings that workspaces share. Cluster-scoped. */
export type WorkspaceClass = CustomObject<WorkspaceClassSpec, WorkspaceClassStatus>

export const WorkspaceClasses: Kind<WorkspaceClass> = {
  group: 'berth.dev',
  version: 'v1alpha1',
  kind: 'WorkspaceClass',
  plural: 'workspaceclasses',
  namespaced: false,
}
