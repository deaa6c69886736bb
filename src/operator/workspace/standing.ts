import {
  type Deployment,
  Deployments,
  isDeleting,
  labels,
  type Pod,
  refOf,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../api/index.ts'
import { type Assessment, isThere } from './actual-state/index.ts'
import { assessedAsItIs } from './assessing.ts'
import { AFTER_STOP, MAIN, partOf, partOfDeployment } from './desired/index.ts'
import { isWanted } from './expiry.ts'
import { isObstacle } from './obstacle.ts'
import { MANAGER } from './owned.ts'
import type { Room } from './room.ts'
import { BY_WORKSPACE } from './sight.ts'
import { findTarget } from './target.ts'
import type { Connection } from './target-watch.ts'

/** What there is of a workspace whose objects cannot be made, or changed, as it wants them now. */
export interface Standing {
  assessment: Assessment
  pods: Pod[]
}

/** One for which nothing was ever made, or everything is gone. */
const NOTHING: Standing = { assessment: { state: 'Stopped', stages: 0, needsLook: false }, pods: [] }

/**
 * What still runs as it was made before, or ends because it is to stop; nothing where that is not known, and where nothing runs
 * that is to run. A mistake in the wish must neither hide what runs, nor keep it from being stopped.
 */
export function standing(workspace: Workspace, settings: WorkspaceClassSpec | undefined, room: Room): Standing | undefined {
  const seen = sightOf(workspace, settings, room)
  const stands = seen === 'nothing' ? NOTHING : seen && assessedIn(workspace, seen, room)
  if (!stands || !isWanted(workspace)) return stands
  const { state } = stands.assessment
  return state === 'Running' || state === 'Starting' ? stands : undefined
}

/** Ends what runs of a workspace that is to be stopped: for that nothing but its target has to be there and in order. */
export async function endStanding(workspace: Workspace, settings: WorkspaceClassSpec | undefined, room: Room): Promise<void> {
  const seen = isWanted(workspace) ? undefined : sightOf(workspace, settings, room)
  if (!seen || seen === 'nothing') return
  for (const each of seen.deployments.filter(({ spec }) => spec?.replicas !== 0))
    await seen.connection.kube.patch(Deployments, refOf(each), { spec: { replicas: 0 } }, { manager: MANAGER })
}

interface Sight {
  connection: Connection
  /** Those of its pods; a devfile's own are not among them. */
  deployments: Deployment[]
  pods: Pod[]
}

function sightOf(workspace: Workspace, settings: WorkspaceClassSpec | undefined, room: Room): Sight | 'nothing' | undefined {
  // Who was never given a target has nothing anywhere.
  const never = workspace.status?.target ? undefined : 'nothing'
  const target = settings && findTarget(workspace, settings.sharedNamespace ?? '', room)
  if (!target || isObstacle(target)) return never
  const connection = room.targets.of(workspace, target)
  if (!connection.isReady()) return undefined
  const { uid = '' } = workspace.metadata
  const deployments = connection.deployments
    .by(BY_WORKSPACE, uid)
    .filter((each) => !isDeleting(each) && each.spec?.selector?.matchLabels?.[labels.workspacePart] !== undefined)
  const pods = connection.pods.by(BY_WORKSPACE, uid)
  const isGone = deployments.length === 0 && !pods.some((pod) => isThere(pod) && partOf(pod) !== AFTER_STOP)
  return isGone ? 'nothing' : { connection, deployments, pods }
}

function assessedIn(workspace: Workspace, { connection, deployments, pods }: Sight, room: Room): Standing {
  const deployment = deployments.find((each) => partOfDeployment(each) === MAIN)
  const others = deployments.filter((each) => each !== deployment)
  const seen = { deployment, pods, connection, now: room.workshop.clock.now() }
  return { assessment: assessedAsItIs(workspace, seen, others), pods }
}
