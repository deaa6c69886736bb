import type { Cache } from '../../adapters/kube/index.ts'
import {
  type DeploymentTargetClaim,
  finalizers,
  type GitProject,
  type Ref,
  refOf,
  type Workspace,
  type WorkspaceClass,
  Workspaces,
  withFinalizer,
  withoutFinalizer,
} from '../../api/index.ts'
import type { Workshop } from '../../engines/controller/index.ts'
import type { GitSettings } from './git/index.ts'
import type { Signposts } from './target.ts'
import type { TargetWatch } from './target-watch.ts'

export const CONTROLLER = 'workspace'

/** What the reconcile of a workspace reads and works with. */
export interface Room extends Signposts {
  workshop: Workshop
  workspaces: Cache<Workspace>
  classes: Cache<WorkspaceClass>
  ownClaim(workspace: Workspace): DeploymentTargetClaim | undefined
  targets: TargetWatch
  project(ref: Ref): GitProject | undefined
  git: GitSettings
  /** When everything of a workspace, by UID, was last compared with its target. */
  compared: Map<string, number>
  /** What the removal of a workspace, by UID, waits for, and since when. */
  removals: Map<string, { what: string; since: number }>
}

/** Changes the workspace itself; `conflict` when somebody else changed it since it was read. */
export const change = (room: Room, workspace: Workspace, spec: Partial<Workspace['spec']>): Promise<Workspace> => {
  const { resourceVersion = '' } = workspace.metadata
  return patch(room, workspace, { metadata: { resourceVersion }, spec })
}

export const addFinalizer = (room: Room, workspace: Workspace): Promise<Workspace> =>
  patch(room, workspace, withFinalizer(workspace, finalizers.workspace))

export const removeFinalizer = (room: Room, workspace: Workspace): Promise<Workspace> =>
  patch(room, workspace, withoutFinalizer(workspace, finalizers.workspace))

const patch = ({ workshop }: Room, workspace: Workspace, changes: object): Promise<Workspace> =>
  workshop.kube.patch(Workspaces, refOf(workspace), changes, { manager: CONTROLLER })
