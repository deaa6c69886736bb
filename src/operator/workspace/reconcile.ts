import {
  DeploymentTargetClaims,
  finalizers,
  hasFinalizer,
  isDeleting,
  type Pod,
  refOf,
  type Workspace,
  type WorkspaceClass,
} from '../../api/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import { seconds } from '../../std/index.ts'
import { isThere } from './actual-state/index.ts'
import { applied, FULL, marksOf } from './applying.ts'
import { assessed } from './assessing.ts'
import { claimToMake } from './claim.ts'
import { classNameOf, frozenClass } from './class.ts'
import { cleanUp } from './clean-up.ts'
import { readDevfile } from './devfile.ts'
import { nextTurn } from './expiry.ts'
import { type GitRoom, gatherGit } from './git/index.ts'
import { isObstacle, type Obstacle } from './obstacle.ts'
import { tellOrphans } from './orphans.ts'
import { isLater, type Later, type Placed, takePlace } from './place.ts'
import { addFinalizer, CONTROLLER, change, type Room } from './room.ts'
import { type Situation, statusOf } from './status.ts'
import { findTarget, type Target } from './target.ts'
import { BY_WORKSPACE, type Connection } from './target-watch.ts'

/** What it waits for wakes it; this only brings the newest reason into the status. */
const CONNECTING = seconds(15)
const NEXT_TURN = 50
/** Nothing tells when kas, or what it fetches, is there again. */
const KAS = seconds(15)

export async function reconcileWorkspace(workspace: Workspace, room: Room): Promise<Next> {
  if (isDeleting(workspace) || workspace.spec.desiredState === 'Terminated') return cleanUp(workspace, room)

  // Nothing may exist in a target before the finalizer does, or a fast delete would leak it.
  const held = hasFinalizer(workspace, finalizers.workspace) ? workspace : await addFinalizer(room, workspace)
  return proceed(held, room)
}

async function proceed(given: Workspace, room: Room): Promise<Next> {
  const known = { now: room.workshop.clock.now(), found: room.classes.get({ name: classNameOf(given) }) }
  const placed = await placeOf(given, known.found, room)
  if (isLater(placed)) return again({ after: NEXT_TURN, why: placed.later })
  if (isObstacle(placed)) return stopAt(given, { ...known, obstacle: placed }, room)
  const { workspace, chosen } = placed
  const project = await gatherGit(workspace, chosen.settings, gitRoomOf(room))
  const seen = { ...known, project }

  const read = await readDevfile(workspace, chosen.settings, { source: room.devfiles, project })
  const recheck = isObstacle(read) && read.waitingFor === 'kas' ? KAS : undefined
  if (isObstacle(read)) return stopAt(workspace, { ...seen, chosen, obstacle: read }, room, recheck)
  const { devfile } = read

  const claiming = await claim(workspace, room, chosen)
  if (claiming) return stopAt(workspace, { ...seen, chosen, ...read, obstacle: claiming }, room)

  const target = findTarget(workspace, chosen.settings.sharedNamespace ?? '', room)
  if (isObstacle(target)) return stopAt(workspace, { ...seen, chosen, ...read, obstacle: target }, room)

  const connection = room.targets.of(workspace, target)
  if (!connection.isReady()) {
    return stopAt(workspace, { ...seen, chosen, ...read, target, obstacle: connecting(target, connection) }, room, CONNECTING)
  }
  tellOrphans(target, connection, workspace.metadata.namespace, room)
  const draft = { workspace, settings: chosen.settings, devfile, namespace: target.namespace, git: project?.git }
  const generation = seen.found?.metadata.generation
  const outcome = await room.errands.run({
    uid: workspace.metadata.uid ?? '',
    plan: JSON.stringify([
      workspace.metadata.generation,
      generation,
      target.apiURL,
      target.namespace,
      target.version,
      draft.git,
      marksOf(draft, room),
    ]),
    target: target.apiURL,
    work: () => applied(draft, generation, connection, room),
    over: () => room.wake(refOf(workspace)),
  })
  if (!outcome) return stopAt(workspace, { ...seen, chosen, ...read, target, obstacle: applying(target) }, room)
  const { deployment, variables } = outcome
  const pods = podsOf(workspace, connection)
  const assessment = assessed(draft, { deployment, pods, connection, now: seen.now })
  return conclude(workspace, { ...seen, chosen, ...read, target, deployment, variables, assessment }, { pods, room })
}

/** The settings that it keeps; one that has none yet is given its place first. */
const placeOf = async (
  workspace: Workspace,
  found: WorkspaceClass | undefined,
  room: Room,
): Promise<Placed | Obstacle | Later> => {
  const frozen = frozenClass(workspace, found)
  return frozen ? { workspace, chosen: frozen } : takePlace(workspace, room)
}

const gitRoomOf = ({ workshop, project, git }: Room): GitRoom => ({ kube: workshop.kube, project, settings: git })

/** What is missing is named; whatever brings it is watched and wakes the workspace. */
const stopAt = (workspace: Workspace, situation: Situation, room: Room, recheck?: number): Promise<Next> =>
  conclude(workspace, situation, { pods: [], room, recheck })

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

/** Where the answer stays out, the request fails; then the state is Error. */
const applying = (target: Target): Obstacle => ({
  step: 'Applied',
  reason: 'Applying',
  message: `its objects are being applied in namespace ${target.namespace} of ${target.apiURL}, which takes long to answer`,
  remedy: "If it stays so, check that the target's API answers.",
  waitingFor: `DeploymentTarget ${target.name}`,
  isUnderWay: true,
})

const podsOf = ({ metadata }: Workspace, { pods }: Connection): Pod[] => pods.by(BY_WORKSPACE, metadata.uid ?? '')

interface Ending {
  pods: Pod[]
  room: Room
  /** In how many milliseconds to look again anyway. */
  recheck?: number | undefined
}

/** The status; and what the workspace asks for itself: the second half of a restart, the end of its time. */
async function conclude(workspace: Workspace, situation: Situation, { pods, room, recheck }: Ending): Promise<Next> {
  const status = statusOf(workspace, situation)
  const { now, chosen, assessment } = situation
  if (workspace.spec.desiredState === 'RestartRequested' && assessment?.state === 'Stopped' && !pods.some(isThere)) {
    return settled({ status, object: await change(room, workspace, { desiredState: 'Running' }) })
  }
  const turn = chosen && nextTurn(workspace, status.actualState ?? 'Unknown', chosen.settings, now)
  if (!turn || turn.at > now) {
    const then = recheck === undefined ? undefined : now + recheck
    return settled({ status, object: workspace, recheck: soonest(situation, turn?.at, then) })
  }
  const object = await change(room, workspace, { desiredState: turn.becomes })
  const message = `it becomes ${turn.becomes}: ${turn.why}`
  room.workshop.events.record(workspace, { type: 'Normal', reason: `${turn.becomes}By${turn.reason}`, message })
  const because = turn.becomes === 'Running' ? {} : { stoppedBecause: `${turn.reason}: ${turn.why}` }
  return settled({ status: { ...status, ...because }, object })
}

/** In how long something may be otherwise though nothing changes: a wait is over, its time is, or everything is due to be compared. */
const soonest = ({ now, assessment }: Situation, ...times: (number | undefined)[]): number =>
  Math.min(FULL, ...[assessment?.recheckAt, ...times].map((time) => (time === undefined ? FULL : Math.max(time - now, 0))))
