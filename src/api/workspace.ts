import { hash } from 'node:crypto'
import { hours, withoutEnd } from '../std/index.ts'
import type { Condition } from './conditions.ts'
import type { WorkspaceClassSpec } from './generated/workspace-class.ts'
import type { Workspace } from './kinds.ts'

const PREFIX = 'workspace-'
/** The longest name that a Service may have. */
const LONGEST = 63

/** The name of everything made for a workspace in its target. Prefixed, because other things live there too. */
export function workspaceObjectName({ metadata: { name } }: Pick<Workspace, 'metadata'>): string {
  const plain = `${PREFIX}${name}`
  if (plain.length <= LONGEST) return plain
  return `${withoutEnd(plain.slice(0, LONGEST - 9), '-')}-${hash('sha256', name).slice(0, 8)}`
}

/** The class of a workspace that names none. */
export const DEFAULT_CLASS = 'default'

/** Its actual state, as far as the operator has said. */
export const workspaceStateOf = ({ status }: Pick<Workspace, 'status'>): string => status?.actualState ?? 'CreationRequested'

export const workspaceWishOf = ({ spec }: Pick<Workspace, 'spec'>): string => spec.desiredState ?? 'Running'

/** The conditions that are steps, in their order; the operator's other conditions are remarks. */
const STEPS = [
  'ClassResolved',
  'ProjectFound',
  'DevfileValid',
  'TargetReady',
  'Applied',
  'PodAdmitted',
  'PodScheduled',
  'PodPrepared',
  'PodInitialized',
  'ContainersStarted',
  'DeploymentReady',
]

export const workspaceStepsOf = ({ status }: Pick<Workspace, 'status'>): Condition[] =>
  STEPS.flatMap((type) => status?.conditions?.filter((condition) => condition.type === type) ?? [])

/** Until when it is kept if somebody asks for so much more time, milliseconds each; its class says how long from now at most. */
export function workspaceKeptUntil({ status }: Pick<Workspace, 'status'>, more: number, now: number) {
  const most = now + hours(status?.class?.settings?.maxActiveHoursBeforeStop ?? 36)
  const asked = Math.max(status?.willStopAt ? Date.parse(status.willStopAt) : now, now) + more
  return { until: Math.min(asked, most), most }
}

/** Has a shell and git. The operator may be told of another, such as the image of Berth for workspaces. */
export const WORKSPACE_IMAGE = 'alpine/git:2.45.2'

/** What clones projects and packs backups. */
export const clonerImageOf = ({ projectCloner }: WorkspaceClassSpec): string => projectCloner?.image ?? WORKSPACE_IMAGE
