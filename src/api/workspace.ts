import { createHash } from 'node:crypto'
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

const PREFIX = 'workspace-'
/** The longest name that a Service may have. */
const LONGEST = 63

/** The name of everything made for a workspace in its target. Prefixed, because other things live there too. */
export function workspaceObjectName({ metadata: { name } }: Pick<Workspace, 'metadata'>): string {
  const plain = `${PREFIX}${name}`
  if (plain.length <= LONGEST) return plain
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${plain.slice(0, LONGEST - 9).replace(/-+$/, '')}-${mark}`
}
