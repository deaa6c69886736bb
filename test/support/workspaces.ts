import {
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  type WorkspaceClassSpec,
  type WorkspaceSpec,
  Workspaces,
} from '../../src/api/index.ts'

/** One without a word about what is in it: of the default class, in a target of its own. */
export const workspace = (namespace: string, name: string, spec: WorkspaceSpec = {}): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: Workspaces.kind,
  metadata: { name, namespace },
  spec,
})

export const workspaceClass = (
  name: string,
  spec: WorkspaceClassSpec = {},
  metadata: Partial<WorkspaceClass['metadata']> = {},
): WorkspaceClass => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: WorkspaceClasses.kind,
  metadata: { name, ...metadata },
  spec,
})
