import {
  finalizers,
  hasFinalizer,
  isDeleting,
  isTrue,
  refOf,
  type Workspace,
  type WorkspaceClassSpec,
  Workspaces,
  withFinalizer,
} from '../../api/index.ts'
import { again, type ControllerContext, type Next, type Waker } from '../../engines/controller/index.ts'
import { Failure, isFailure, minutes, seconds, type Turnstile } from '../../std/index.ts'
import type { Assessment } from './actual-state/index.ts'
import { backUp } from './backup/backup.ts'
import { restoreFor } from './backup/restore.ts'
import type { TunnelSettings, WorkspacePlan } from './desired/index.ts'
import { type GitFindings, type GitServices, gatherGit } from './git/index.ts'
import { afterStop, tellPostStop } from './lifetime/after-stop.ts'
import { cleanUp, type RemovalServices } from './lifetime/clean-up.ts'
import { isWanted, nextTurn } from './lifetime/expiry.ts'
import { type Applied, type ApplyServices, applyWorkspace, endsStill, marksOf, type PlanDraft } from './objects/apply.ts'
import { isApplyFailure } from './objects/apply-failure.ts'
import type { Errands } from './objects/errands.ts'
import { CONTROLLER } from './place/claim.ts'
import { classNameOf, frozenClass } from './place/class.ts'
import { classObstacle, isObstacle, type Obstacle, obstacleAt, targetObstacle } from './place/obstacle.ts'
import { isLater, type PlaceServices, takePlace } from './place/quota.ts'
import { findTarget, ownClaim, type Target } from './place/target.ts'
import { type ClaimSupply, ensureClaim } from './pool/adopt.ts'
import { KAS, type Library, type Pinned, readDevfile } from './project/devfile.ts'
import { sizesOf } from './project/sizes.ts'
import { conclude, NEXT_TURN } from './status/conclude.ts'
import type { SshGateway } from './status/ssh.ts'
import { assessed, endStanding, type StandingServices, standing } from './status/standing.ts'
import type { WorkspaceFindings } from './status/status.ts'
import type { TargetConnection } from './watch/connections.ts'
import type { TellOrphans } from './watch/orphans.ts'
import { BY_WORKSPACE } from './watch/view.ts'

/** A watch wakes the workspace when it is over; this only brings the newest reason into the status. */
const CONNECTING = seconds(15)
/** Nothing tells when kas, or what it fetches, is there again. */
const AGAIN = seconds(15)
/** A refusal is mended by somebody, mostly in the workspace, which wakes it. */
const REFUSED = minutes(5)

/** Each part is what one step of a reconcile needs. */
export interface WorkspaceServices extends StandingServices {
  context: ControllerContext
  wakeups: Pick<Waker, 'wake'>
  places: PlaceServices
  supply: ClaimSupply
  git: GitServices
  /** Nothing where no kas is known that pods could open tunnels to. */
  tunnels: TunnelSettings | undefined
  devfiles: Pick<Library, 'source' | 'parser'>
  /** Devfiles of projects that are being read. */
  readings: Errands<Pinned>
  /** By namespace: each keeps what it has read so far, and one of these may have a thousand. */
  readingTurns: Turnstile
  errands: Errands<Applied>
  applying: ApplyServices
  removal: RemovalServices
  tellOrphans: TellOrphans
  gateway: () => SshGateway | undefined
}

export async function reconcileWorkspace(workspace: Workspace, services: WorkspaceServices): Promise<Next> {
  if (isDeleting(workspace) || workspace.spec.desiredState === 'Terminated') return cleanUp(workspace, services.removal)

  // Nothing may exist in a target before the finalizer does, or a fast delete would leak it.
  const held = hasFinalizer(workspace, finalizers.workspace) ? workspace : await addFinalizer(workspace, services)
  return proceed(held, services)
}

async function proceed(given: Workspace, services: WorkspaceServices): Promise<Next> {
  const { context, places } = services
  const now = context.clock.now()
  const findClass = () => places.classes.get({ name: classNameOf(given) })
  // One that keeps no settings yet is given its place first.
  const frozen = frozenClass(given, findClass(), places.defaults)
  const placed = frozen ? { workspace: given, chosen: frozen } : await takePlace(given, places)
  // The class may have changed while the workspace stood in line for its place.
  const known = { now, found: findClass(), gateway: services.gateway() }
  if (isLater(placed)) return again({ after: NEXT_TURN, why: placed.later })
  if (isObstacle(placed)) return stopAt(given, { ...known, obstacle: placed }, services)
  const { workspace, chosen } = placed
  const project = await gatherGit(workspace, chosen.settings, services.git)
  const seen = { ...known, project, chosen }
  const missing = project && !project.known ? noProject(project.name) : noTunnels(chosen.settings, services)
  if (missing) return stopAt(workspace, { ...seen, obstacle: missing }, services)

  const read = await readDevfile(workspace, chosen.settings, libraryOf(workspace, project, services))
  const recheck = isObstacle(read) && read.waitingFor === KAS ? AGAIN : undefined
  if (isObstacle(read)) return stopAt(workspace, { ...seen, obstacle: read }, services, recheck)
  const sizes = sizesOf(workspace, read.devfile, chosen.settings)
  const wanted = { ...seen, ...read, sizes }

  const claiming = await ensureClaim(
    workspace,
    { devfile: sizes.devfile, chosen, mine: ownClaim(workspace, services.lookup) },
    services.supply,
  )
  if (claiming) return stopAt(workspace, { ...wanted, obstacle: claiming }, services)

  const target = findTarget(workspace, chosen.settings.sharedNamespace, services.lookup)
  if (isObstacle(target)) return stopAt(workspace, { ...wanted, obstacle: target }, services)
  return applyIn(target, workspace, { ...wanted, target }, services)
}

/** These findings are there before anything is asked of the target. */
type Wanted = WorkspaceFindings & Required<Pick<WorkspaceFindings, 'chosen' | 'sizes' | 'devfile'>>

async function applyIn(target: Target, workspace: Workspace, wanted: Wanted, services: WorkspaceServices): Promise<Next> {
  const { now, chosen, sizes, project } = wanted
  const connection = services.connections.of(workspace, target)
  const generation = wanted.found?.metadata.generation
  const early = tooEarly(workspace, generation, connection, services)
  if (early) return early
  if (!connection.isReady()) {
    return stopAt(workspace, { ...wanted, obstacle: connecting(target, connection) }, services, CONNECTING)
  }
  services.tellOrphans(target, connection, workspace.metadata.namespace)
  const restored = restoreFor(workspace, target, services.places.workspaces)
  if (restored && isObstacle(restored)) return stopAt(workspace, { ...wanted, obstacle: restored }, services)
  const { namespace, volume } = target
  const { settings } = chosen
  const ways = { git: project?.git, tunnel: hasTunnels(settings) ? services.tunnels : undefined }
  const isEnding = endsStill(workspace, connection, namespace)
  const draft = { workspace, settings, devfile: sizes.devfile, namespace, volume, restored, isEnding, ...ways }
  const errand = {
    uid: workspace.metadata.uid ?? '',
    plan: JSON.stringify([
      workspace.metadata.generation,
      generation,
      target.apiURL,
      target.namespace,
      target.version,
      draft.git,
      isEnding,
      sizes.applied,
      marksOf(draft, services.applying),
    ]),
    target: target.apiURL,
    work: () => applyWorkspace(draft, generation, connection, services.applying),
    over: () => services.wakeups.wake(refOf(workspace)),
  }
  const outcome = await services.errands
    .run(errand)
    .catch((thrown: unknown) => refusedBy(thrown, workspace, isDue(workspace, settings, now)))
  // Objects that were applied before are only compared: there is nothing to tell.
  if (!outcome && isApplied(workspace)) return again({ after: CONNECTING, why: applying(target).message })
  if (!outcome || isObstacle(outcome)) {
    return stopAt(workspace, { ...wanted, obstacle: outcome ?? applying(target) }, services, outcome && REFUSED)
  }
  return follow({ ...outcome, draft, connection }, { ...wanted, restored }, services)
}

/** The objects are there: how the workspace fares, and what is done beside it. */
async function follow(
  { draft, plan, deployment, connection }: Applied & { draft: PlanDraft; connection: TargetConnection },
  findings: WorkspaceFindings,
  services: WorkspaceServices,
): Promise<Next> {
  const { workspace } = draft
  const { variables } = plan
  const { now } = findings
  const pods = connection.pods.by(BY_WORKSPACE, workspace.metadata.uid ?? '')
  const judged = assessed(draft, { deployment, pods, connection, now })
  const { assessment, postStop } = await withPostStop(plan, judged, { connection, now, services })
  const isDown = assessment.state === 'Stopped' && workspace.spec.desiredState === 'Stopped'
  const { backups, recheckAt } = await backUp({ plan, kube: connection.kube, isDown, isWanted: isWanted(workspace), now })
  const times = [recheckAt, services.applying.comparisons.dueAt(workspace.metadata.uid ?? '')].filter(
    (time) => time !== undefined,
  )
  return conclude(
    workspace,
    { ...findings, deployment, variables, assessment, postStop, backups },
    { pods, context: services.context, recheck: times.length > 0 ? Math.min(...times) - now : undefined },
  )
}

/** One repository that is slow keeps nobody waiting but whose devfile is in it. */
const libraryOf = (
  workspace: Workspace,
  project: GitFindings | undefined,
  { devfiles, readings, readingTurns, wakeups }: WorkspaceServices,
): Library => ({
  ...devfiles,
  aside: (plan, work) =>
    readings.run({
      uid: workspace.metadata.uid ?? '',
      plan,
      target: `${workspace.metadata.namespace} ${project?.known?.path ?? ''}`,
      work: () => readingTurns.pass(workspace.metadata.namespace ?? '', work),
      over: () => wakeups.wake(refOf(workspace)),
    }),
  project,
})

/** A stop is not over before its postStop commands are, which have a time limit. */
async function withPostStop(
  plan: WorkspacePlan,
  assessment: Assessment,
  { connection, now, services }: { connection: TargetConnection; now: number; services: WorkspaceServices },
): Promise<Pick<WorkspaceFindings, 'postStop'> & { assessment: Assessment }> {
  const isDown = assessment.state === 'Stopped'
  const isUp = (plan.workspace.spec.desiredState ?? 'Running') === 'Running'
  const after = await afterStop({ plan, kube: connection.kube, isDown, isWanted: isUp, now })
  tellPostStop(services.context.events, plan.workspace, after.postStop)
  const { postStop, recheckAt = assessment.recheckAt, isUnderWay } = after
  if (!isUnderWay) return { assessment: { ...assessment, recheckAt }, postStop }
  const step = { name: 'PostStop', since: Date.parse(postStop?.since ?? '') } as const
  return { assessment: { ...assessment, state: 'Stopping', step, recheckAt }, postStop }
}

/**
 * Names the obstacle; a watch wakes the workspace when it is gone. A workspace that runs already goes on meanwhile, or ends if it
 * is to.
 */
async function stopAt(
  workspace: Workspace,
  findings: WorkspaceFindings,
  services: WorkspaceServices,
  recheck?: number,
): Promise<Next> {
  const { obstacle, chosen } = findings
  const { context } = services
  // While its objects are being made nobody knows what there is.
  if (obstacle?.isUnderWay && obstacle.step === 'Applied') return conclude(workspace, findings, { pods: [], context, recheck })
  await endStanding(workspace, chosen?.settings, services)
  const { assessment, pods = [] } = standing(workspace, chosen?.settings, context.clock.now(), services) ?? {}
  return conclude(workspace, { ...findings, ...(assessment && { assessment }) }, { pods, context, recheck })
}

const addFinalizer = (workspace: Workspace, { context: { kube } }: WorkspaceServices): Promise<Workspace> =>
  kube.patch(Workspaces, refOf(workspace), withFinalizer(workspace, finalizers.workspace), { manager: CONTROLLER })

const hasTunnels = ({ proxy }: WorkspaceClassSpec): boolean => proxy?.wayIn === 'Tunnel' && proxy.httpEnabled !== false

/** Where nobody has said where pods find kas, people would wait before a closed door. */
const noTunnels = (settings: WorkspaceClassSpec, { tunnels }: WorkspaceServices): Obstacle | undefined =>
  tunnels || !hasTunnels(settings)
    ? undefined
    : classObstacle('TunnelsNotConfigured', {
        message: 'the class has proxy.wayIn: Tunnel, and the operator does not know where pods open tunnels',
        remedy: 'Start the operator with --kas-tunnels and --agentw-image, or choose a class with another way in.',
      })

/** Without it the workspace would come up with an empty folder. */
const noProject = (name: string): Obstacle =>
  obstacleAt('ProjectFound', 'GitProjectNotFound', {
    message: `spec.project.gitProject: there is no GitProject ${name} in this namespace`,
    remedy: 'Create it, or make the workspace again with another.',
    waitingFor: `GitProject ${name}`,
  })

/**
 * The status of a workspace that was there before stays until its objects could be seen: a start of the operator is not to be
 * noticed in the status of thousands.
 */
function tooEarly(
  workspace: Workspace,
  generation: number | undefined,
  connection: TargetConnection,
  services: WorkspaceServices,
) {
  const { uid = '' } = workspace.metadata
  if (!workspace.status?.target) return
  const after = connection.isNewFor()
  if (after > 0) return again({ after, why: `the target is being listed: ${connection.why()}` })
  const isRecent = services.applying.comparisons.isRecent(uid, generation, workspace.status.actualState)
  const isToCompare = connection.isReady() && !isRecent && !services.errands.isUnderWay(uid)
  const isAwaited = isToCompare && connection.survey.isAwaited(uid)
  return isAwaited ? again({ after: CONNECTING, why: 'the objects of all workspaces of the target are being listed' }) : undefined
}

const connecting = (target: Target, connection: TargetConnection): Obstacle =>
  targetObstacle('Connecting', {
    message: `no answer yet from ${target.apiURL} in namespace ${target.namespace}: ${connection.why()}`,
    remedy: "If it stays so, check that the target's API can be reached and that its token may list deployments and pods there.",
    waitingFor: `DeploymentTarget ${target.name}`,
  })

/**
 * The objection of the target. A mistake of the wish is told and looked at again seldom; so is every objection where the workspace
 * is to be stopped, or ends by itself now, for which there is another way. The rest is thrown, and tried again as failures are.
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
