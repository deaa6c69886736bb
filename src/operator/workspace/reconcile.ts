import {
  DeploymentTargetClaims,
  finalizers,
  hasFinalizer,
  isDeleting,
  isTrue,
  type Pod,
  refOf,
  type Workspace,
  type WorkspaceClass,
  type WorkspaceClassSpec,
} from '../../api/index.ts'
import type { Devfile } from '../../devfile/index.ts'
import { again, type Next, settled } from '../../engines/controller/index.ts'
import { Failure, isFailure, minutes, seconds } from '../../std/index.ts'
import { type Assessment, isThere } from './actual-state/index.ts'
import { afterStop } from './after-stop.ts'
import { applied, FULL, isCompared, marksOf } from './apply.ts'
import { isApplyFailure } from './apply-failure.ts'
import { assessed } from './assessing.ts'
import { backUp } from './care/backup/backup.ts'
import { restoreFor } from './care/backup/restore.ts'
import { adopt } from './care/pool/adopt.ts'
import { sizesOf } from './care/sizes.ts'
import { claimToMake, privacyFor, saysOtherwise } from './claim.ts'
import { type ChosenClass, classNameOf, frozenClass } from './class.ts'
import { cleanUp } from './clean-up.ts'
import type { Plan } from './desired/index.ts'
import { KAS, readDevfile } from './devfile.ts'
import { tellPostStop } from './events.ts'
import { isWanted, nextTurn } from './expiry.ts'
import { type GitRoom, gatherGit } from './git/index.ts'
import { isObstacle, type Obstacle } from './obstacle.ts'
import { tellOrphans } from './orphans.ts'
import { isLater, type Later, type Placed, takePlace } from './place.ts'
import { addFinalizer, CONTROLLER, change, type Room } from './room.ts'
import { BY_WORKSPACE } from './sight.ts'
import { endStanding, standing } from './standing.ts'
import { type Situation, statusOf } from './status.ts'
import { findTarget, type Target } from './target.ts'
import type { Connection } from './target-watch.ts'

/** What it waits for wakes it; this only brings the newest reason into the status. */
const CONNECTING = seconds(15)
const NEXT_TURN = 50
/** Nothing tells when kas, or what it fetches, is there again. */
const AGAIN = seconds(15)
/** What was refused is mended by somebody, mostly in the workspace, which wakes it. */
const REFUSED = minutes(5)

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
  const missing = project && !project.known ? noProject(project.name) : noTunnels(chosen.settings, room)
  if (missing) return stopAt(workspace, { ...seen, chosen, obstacle: missing }, room)

  const read = await readDevfile(workspace, chosen.settings, libraryOf(workspace, project, room))
  const recheck = isObstacle(read) && read.waitingFor === KAS ? AGAIN : undefined
  if (isObstacle(read)) return stopAt(workspace, { ...seen, chosen, obstacle: read }, room, recheck)
  const sizes = sizesOf(workspace, read.devfile, chosen.settings)
  const { devfile } = sizes

  const claiming = await claim(workspace, devfile, room, chosen)
  if (claiming) return stopAt(workspace, { ...seen, chosen, ...read, sizes, obstacle: claiming }, room)

  const target = findTarget(workspace, chosen.settings.sharedNamespace ?? '', room)
  if (isObstacle(target)) return stopAt(workspace, { ...seen, chosen, ...read, sizes, obstacle: target }, room)

  const connection = room.targets.of(workspace, target)
  const there = { ...seen, chosen, ...read, sizes, target }
  const early = tooEarly(workspace, seen.found?.metadata.generation, connection, room)
  if (early) return early
  if (!connection.isReady()) return stopAt(workspace, { ...there, obstacle: connecting(target, connection) }, room, CONNECTING)
  tellOrphans(target, connection, workspace.metadata.namespace, room)
  const restored = restoreFor(workspace, target, room)
  if (restored && isObstacle(restored)) return stopAt(workspace, { ...there, obstacle: restored }, room)
  const { namespace, volume } = target
  const { settings } = chosen
  const ways = { git: project?.git, tunnel: hasTunnels(settings) ? room.tunnels : undefined }
  const draft = { workspace, settings, devfile, namespace, volume, restored, ...ways }
  const generation = seen.found?.metadata.generation
  const errand = {
    uid: workspace.metadata.uid ?? '',
    plan: JSON.stringify([
      workspace.metadata.generation,
      generation,
      target.apiURL,
      target.namespace,
      target.version,
      draft.git,
      sizes.applied,
      marksOf(draft, room),
    ]),
    target: target.apiURL,
    work: () => applied(draft, generation, connection, room),
    over: () => room.wake(refOf(workspace)),
  }
  const outcome = await room.errands
    .run(errand)
    .catch((thrown: unknown) => refusedBy(thrown, workspace, isDue(workspace, chosen.settings, seen.now)))
  // What was applied before is only compared: there is nothing to tell.
  if (!outcome && isApplied(workspace)) return again({ after: CONNECTING, why: applying(target).message })
  if (!outcome || isObstacle(outcome)) {
    return stopAt(workspace, { ...there, obstacle: outcome ?? applying(target) }, room, outcome && REFUSED)
  }
  const { deployment, plan } = outcome
  const pods = podsOf(workspace, connection)
  const judged = assessed(draft, { deployment, pods, connection, now: seen.now })
  const { assessment, postStop } = await withPostStop(plan, judged, { connection, now: seen.now, room })
  const { variables } = plan
  const { desiredState = 'Running' } = workspace.spec
  const { backups, recheckAt } = await backUp({
    plan,
    kube: connection.kube,
    isDown: assessment.state === 'Stopped' && desiredState === 'Stopped',
    isWanted: desiredState !== 'Stopped',
    now: seen.now,
  })
  return conclude(
    workspace,
    { ...seen, chosen, ...read, sizes, target, deployment, variables, assessment, postStop, backups, restored },
    { pods, room, recheck: recheckAt === undefined ? undefined : recheckAt - seen.now },
  )
}

/** One repository that is slow keeps nobody waiting but whose devfile is in it. */
const libraryOf = (workspace: Workspace, project: Situation['project'], room: Room): Parameters<typeof readDevfile>[2] => ({
  source: room.devfiles,
  aside: (plan, work) =>
    room.readings.run({
      uid: workspace.metadata.uid ?? '',
      plan,
      target: `${workspace.metadata.namespace} ${project?.known?.path ?? ''}`,
      work,
      over: () => room.wake(refOf(workspace)),
    }),
  project,
  parser: room.parser,
})

/** A stop is not over before its postStop commands are, which have a time limit. */
async function withPostStop(
  plan: Plan,
  assessment: Assessment,
  { connection, now, room }: { connection: Connection; now: number; room: Room },
): Promise<Pick<Situation, 'postStop'> & { assessment: Assessment }> {
  const isDown = assessment.state === 'Stopped'
  const isUp = (plan.workspace.spec.desiredState ?? 'Running') === 'Running'
  const after = await afterStop({ plan, kube: connection.kube, isDown, isWanted: isUp, now })
  tellPostStop(room.workshop.events, plan.workspace, after.postStop)
  const { postStop, recheckAt = assessment.recheckAt, isUnderWay } = after
  if (!isUnderWay) return { assessment: { ...assessment, recheckAt }, postStop }
  const step = { name: 'PostStop', since: Date.parse(postStop?.since ?? '') } as const
  return { assessment: { ...assessment, state: 'Stopping', step, recheckAt }, postStop }
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

/**
 * What is missing is named; whatever brings it is watched and wakes the workspace. What runs already goes on meanwhile, or ends
 * if it is to.
 */
async function stopAt(workspace: Workspace, situation: Situation, room: Room, recheck?: number): Promise<Next> {
  const { obstacle, chosen } = situation
  // While its objects are being made nobody knows what there is.
  if (obstacle?.isUnderWay && obstacle.step === 'Applied') return conclude(workspace, situation, { pods: [], room, recheck })
  await endStanding(workspace, chosen?.settings, room)
  const { assessment, pods = [] } = standing(workspace, chosen?.settings, room) ?? {}
  return conclude(workspace, { ...situation, ...(assessment && { assessment }) }, { pods, room, recheck })
}

async function claim(workspace: Workspace, devfile: Devfile, room: Room, chosen: ChosenClass): Promise<Obstacle | undefined> {
  const mine = room.ownClaim(workspace)
  if (saysOtherwise(workspace, mine)) {
    const metadata = { annotations: privacyFor(workspace, mine) }
    await room.workshop.kube.patch(DeploymentTargetClaims, refOf(mine), { metadata }, { manager: CONTROLLER })
  }
  const wanted = claimToMake(workspace, chosen, mine, room.targetClass)
  if (!wanted || isObstacle(wanted)) return wanted
  if (await adopt(workspace, devfile, chosen, room)) return undefined
  await room.workshop.kube.create(DeploymentTargetClaims, wanted, { manager: CONTROLLER })
  return undefined
}

const hasTunnels = ({ proxy }: WorkspaceClassSpec): boolean => proxy?.wayIn === 'Tunnel' && proxy.httpEnabled !== false

/** Where nobody has said where pods find kas, people would wait before a closed door. */
function noTunnels(settings: WorkspaceClassSpec, { tunnels }: Room): Obstacle | undefined {
  if (tunnels || !hasTunnels(settings)) return undefined
  return {
    step: 'ClassResolved',
    reason: 'TunnelsNotConfigured',
    message: 'the class has proxy.wayIn: Tunnel, and the operator does not know where pods open tunnels',
    remedy: 'Start the operator with --kas-tunnels and --agentw-image, or choose a class with another way in.',
  }
}

/** Without it the workspace would come up with an empty folder. */
const noProject = (name: string): Obstacle => ({
  step: 'ProjectFound',
  reason: 'GitProjectNotFound',
  message: `spec.project.gitProject: there is no GitProject ${name} in this namespace`,
  remedy: 'Create it, or make the workspace again with another.',
  waitingFor: `GitProject ${name}`,
})

/**
 * Of what was there before nothing else is said until it could be seen: a start of the operator is not to be noticed in the
 * status of thousands. Whatever it waits for wakes it.
 */
function tooEarly({ metadata, status }: Workspace, generation: number | undefined, connection: Connection, room: Room) {
  const { uid = '' } = metadata
  if (!status?.target) return
  const after = connection.isNewFor()
  if (after > 0) return again({ after, why: `the target is being listed: ${connection.why()}` })
  const isToCompare = connection.isReady() && !isCompared(uid, generation, room) && !room.errands.isUnderWay(uid)
  const isAwaited = isToCompare && connection.survey.isAwaited(uid)
  return isAwaited ? again({ after: CONNECTING, why: 'the objects of all workspaces of the target are being listed' }) : undefined
}

const connecting = (target: Target, connection: Connection): Obstacle => ({
  step: 'TargetReady',
  reason: 'Connecting',
  message: `no answer yet from ${target.apiURL} in namespace ${target.namespace}: ${connection.why()}`,
  remedy: "If it stays so, check that the target's API can be reached and that its token may list deployments and pods there.",
  waitingFor: `DeploymentTarget ${target.name}`,
})

/**
 * What the target, or what is to go there, says against it. A mistake of the wish is told and looked at again seldom; so is
 * everything where it is to be stopped, or to end by itself now, for which there is another way. The rest is tried again as
 * failures are.
 */
function refusedBy(thrown: unknown, workspace: Workspace, isOver: boolean): Obstacle {
  const failure = Failure.from(thrown)
  const isMistake = isFailure(failure, 'invalid', 'too-large')
  if (!isApplyFailure(failure) || !(isMistake || isOver || !isWanted(workspace))) throw thrown
  const { reason = '', message, remedy = 'It is tried again by itself.' } = failure
  return { step: 'Applied', reason, message, remedy }
}

const isApplied = ({ metadata, status }: Workspace): boolean =>
  isTrue(status?.conditions, 'Applied') && status?.observedGeneration === metadata.generation

const isDue = (workspace: Workspace, settings: WorkspaceClassSpec, now: number): boolean =>
  (nextTurn(workspace, workspace.status?.actualState ?? 'Unknown', settings, now)?.at ?? Number.POSITIVE_INFINITY) <= now

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
  const because = turn.becomes === 'Running' ? {} : { stoppedBecause: `${turn.reason}: ${turn.why}` }
  const told = { ...status, ...because }
  const message = `it becomes ${turn.becomes}: ${turn.why}`
  // The reason is said before the deed: whatever comes between the two, it is not lost.
  if (because.stoppedBecause !== workspace.status?.stoppedBecause && turn.becomes === 'Stopped') {
    return again({ after: NEXT_TURN, why: message, status: told, object: workspace })
  }
  const object = await change(room, workspace, { desiredState: turn.becomes })
  room.workshop.events.record(workspace, { type: 'Normal', reason: `${turn.becomes}By${turn.reason}`, message })
  return settled({ status: told, object })
}

/** In how long something may be otherwise though nothing changes: a wait is over, its time is, or everything is due to be compared. */
const soonest = ({ now, assessment }: Situation, ...times: (number | undefined)[]): number =>
  Math.min(FULL, ...[assessment?.recheckAt, ...times].map((time) => (time === undefined ? FULL : Math.max(time - now, 0))))
