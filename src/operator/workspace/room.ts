import type { Cache } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type Deployment,
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
import type { LRUCache, Turnstile } from '../../std/index.ts'
import type { TargetClasses } from './claim.ts'
import type { Plan, TunnelSettings } from './desired/index.ts'
import type { DevfileParser, Pinned } from './devfile.ts'
import type { DevfileSource } from './devfile-source.ts'
import type { Errands } from './errands.ts'
import type { GitSettings } from './git/index.ts'
import type { Signposts } from './target.ts'
import type { TargetWatch } from './target-watch.ts'

export const CONTROLLER = 'workspace'

/** What came of applying the objects of a workspace. */
export interface Applied {
  deployment: Deployment
  /** What they were made from. */
  plan: Plan
}

/** What the reconcile of a workspace reads and works with. */
export interface Room extends Signposts {
  workshop: Workshop
  workspaces: Cache<Workspace>
  classes: Cache<WorkspaceClass>
  targetClass: TargetClasses
  /** Claims of the class of this UID, in this namespace, that wait for a workspace. */
  spares(uid: string, namespace: string): DeploymentTargetClaim[]
  targets: TargetWatch
  project(ref: Ref): GitProject | undefined
  git: GitSettings
  /** Nothing where no kas is known that pods could open tunnels to. */
  tunnels: TunnelSettings | undefined
  /** One workspace of a class after the other is given its place. */
  gates: Turnstile
  /** When each namespace of a target was last searched for what belongs to nobody, of the last thousand. */
  searched: LRUCache<string, number>
  errands: Errands<Applied>
  /** Devfiles of projects that are being read. */
  readings: Errands<Pinned>
  /** Has the workspace looked at again. */
  wake(ref: Ref): void
  /** When everything of a workspace, by UID, was last compared with its target, and at which generation of its class. */
  compared: Map<string, { at: number; generation: number | undefined }>
  /** Nothing where no kas is known. */
  devfiles: DevfileSource | undefined
  parser: DevfileParser
  /** Credentials for image registries, wherever the operator sees them. */
  pullSecret(ref: Ref): CoreSecret | undefined
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
