import {
  type Deployment,
  DeploymentTargetClaims,
  finalizers,
  hasFinalizer,
  isDeleting,
  type Pod,
  type Workspace,
} from '../../api/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import { seconds } from '../../std/index.ts'
import { type Assessment, assess, isThere } from './actual-state/index.ts'
import { applied, FULL } from './applying.ts'
import { claimToMake } from './claim.ts'
import { chooseClass } from './class.ts'
import { cleanUp } from './clean-up.ts'
import { readDevfile } from './devfile.ts'
import { nextEnd } from './expiry.ts'
import { type GitRoom, gatherGit } from './git/index.ts'
import { isObstacle, type Obstacle } from './obstacle.ts'
import { addFinalizer, CONTROLLER, change, type Room } from './room.ts'
import { type Situation, statusOf } from './status.ts'
import { findTarget, type Target } from './target.ts'
import { BY_WORKSPACE, type Connection } from './target-watch.ts'

const CONNECTING = seconds(3)

export async function reconcileWorkspace(workspace: Workspace, room: Room): Promise<Next> {
  if (isDeleting(workspace) || workspace.spec.desiredState === 'Terminated') return cleanUp(workspace, room)

  // Nothing may exist in a target before the finalizer does, or a fast delete would leak it.
  const held = hasFinalizer(workspace, finalizers.workspace) ? workspace : await addFinalizer(room, workspace)
  return proceed(held, room)
}

async function proceed(workspace: Workspace, room: Room): Promise<Next> {
  const now = { now: room.workshop.clock.now() }
  const chosen = chooseClass(workspace, room.classes, room.workspaces.all())
  if (isObstacle(chosen)) return stopAt(workspace, { ...now, obstacle: chosen })
  const project = await gatherGit(workspace, chosen.settings, gitRoomOf(room))
  const seen = { ...now, project }

  const devfile = readDevfile(workspace, chosen.settings)
  if (isObstacle(devfile)) return stopAt(workspace, { ...seen, chosen, obstacle: devfile })

  const claiming = await claim(workspace, room, chosen)
  if (claiming) return stopAt(workspace, { ...seen, chosen, devfile, obstacle: claiming })

  const target = findTarget(workspace, chosen.settings.sharedNamespace ?? '', room)
  if (isObstacle(target)) return stopAt(workspace, { ...seen, chosen, devfile, obstacle: target })

  const connection = room.targets.of(workspace, target)
  if (!connection.isReady()) {
    const status = statusOf(workspace, { ...seen, chosen, devfile, target, obstacle: connecting(target, connection) })
    return again({ after: CONNECTING, why: `the target ${target.name} does not answer yet`, status, object: workspace })
  }
  const draft = { workspace, settings: chosen.settings, devfile, namespace: target.namespace, git: project?.git }
  const { deployment, variables } = await applied(draft, connection, room)
  const pods = podsOf(workspace, connection)
  const assessment = assessed(workspace, { deployment, pods, connection, now: seen.now })
  return conclude(workspace, { ...seen, chosen, devfile, target, deployment, variables, assessment }, { pods, room })
}

/** A start that takes long is looked at more closely; then what is seen there is evidence, too. */
function assessed(
  { metadata: { uid = '' }, status }: Workspace,
  { deployment, pods, connection, now }: { deployment: Deployment; pods: Pod[]; connection: Connection; now: number },
): Assessment {
  const evidence = { now, deployment, pods, before: status }
  const first = assess(evidence)
  if (first.needsLook) return assess({ ...evidence, ...connection.closer.at(uid, pods) })
  connection.closer.turnAway(uid)
  return first
}

const gitRoomOf = ({ workshop, project, git }: Room): GitRoom => ({ kube: workshop.kube, project, settings: git })

/** What is missing is named; whatever brings it is watched and wakes the workspace. */
const stopAt = (workspace: Workspace, situation: Situation): Next =>
  settled({ status: statusOf(workspace, situation), object: workspace })

async function claim(workspace: Workspace, room: Room, chosen: Parameters<typeof claimToMake>[1]): Promise<Obstacle | undefined> {
  const wanted = claimToMake(workspace, chosen, room.ownClaim(workspace))
  if (!wanted || isObstacle(wanted)) return wanted
  await room.workshop.kube.create(DeploymentTargetClaims, wanted, { manager: CONTROLLER })
  return undefined
}

const connecting = (target: Target, connection: Connection): Obstacle => ({
  step: 'TargetReady',
  reason: 'Connecting',
  message: `no answer yet from ${target.apiURL} in namespace ${target.namespace}: ${connection.why()}`,
  remedy: "If it stays so, check that the target's API can be reached and that its token may list deployments and pods there.",
  waitingFor: `DeploymentTarget ${target.name}`,
})

const podsOf = ({ metadata }: Workspace, { pods }: Connection): Pod[] => pods.by(BY_WORKSPACE, metadata.uid ?? '')

/** The status; and what the workspace asks for itself: the second half of a restart, the end of its time. */
async function conclude(workspace: Workspace, situation: Situation, { pods, room }: { pods: Pod[]; room: Room }): Promise<Next> {
  const status = statusOf(workspace, situation)
  if (workspace.spec.desiredState === 'RestartRequested' && status.actualState === 'Stopped' && !pods.some(isThere)) {
    return settled({ status, object: await change(room, workspace, { desiredState: 'Running' }) })
  }
  const end = nextEnd(status)
  if (!end || end.at > situation.now) return settled({ status, object: workspace, recheck: soonest(situation, end?.at) })
  if ((workspace.spec.desiredState ?? 'Running') === end.becomes) {
    return settled({ status, object: workspace, recheck: soonest(situation) })
  }
  room.workshop.events.record(workspace, {
    type: 'Normal',
    reason: `Time${end.becomes}`,
    message: `its class's time limit is over: it becomes ${end.becomes}`,
  })
  return settled({ status, object: await change(room, workspace, { desiredState: end.becomes }) })
}

/** In how long something may be otherwise though nothing changes: a wait is over, its time is, or everything is due to be compared. */
const soonest = ({ now, assessment }: Situation, ...times: (number | undefined)[]): number =>
  Math.min(FULL, ...[assessment?.recheckAt, ...times].map((time) => (time === undefined ? FULL : Math.max(time - now, 0))))
