import {
  type Deployment,
  Deployments,
  isDeleting,
  labels,
  type Pod,
  refOf,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../../api/index.ts'
import { seconds } from '../../../std/index.ts'
import { type Assessment, assess, isThere } from '../actual-state/index.ts'
import { AFTER_STOP, MAIN, partOf, partOfDeployment, partsOf, type WorkspacePlan } from '../desired/index.ts'
import { isWanted } from '../lifetime/expiry.ts'
import { MANAGER } from '../objects/owned.ts'
import { isObstacle } from '../place/obstacle.ts'
import { type ClaimLookup, findTarget } from '../place/target.ts'
import type { TargetConnection, TargetConnections } from '../watch/connections.ts'
import { BY_WORKSPACE } from '../watch/view.ts'

interface Seen {
  /** Of its main pod. */
  deployment: Deployment | undefined
  pods: readonly Pod[]
  connection: TargetConnection
  now: number
}

/** A pod beside the main one; nothing where its Deployment is not seen yet. */
interface Beside {
  part: string
  deployment: Deployment | undefined
}

/** The state of a workspace: that of its main pod, and once that is where it should be, of those beside it. */
export function assessed(
  { workspace, devfile, namespace }: Pick<WorkspacePlan, 'workspace' | 'devfile' | 'namespace'>,
  seen: Seen,
): Assessment {
  const [, ...others] = partsOf(workspace, devfile)
  const { deployments } = seen.connection
  return assessedWith(
    workspace,
    seen,
    others.map(({ part, name }) => ({ part, deployment: deployments.get({ name, namespace }) })),
  )
}

function assessedWith(workspace: Workspace, seen: Seen, beside: readonly Beside[]): Assessment {
  const assessment = worstOf(workspace, seen, beside)
  if (!assessment.needsLook) seen.connection.closer.stopLooking(workspace.metadata.uid ?? '')
  return assessment
}

function worstOf(workspace: Workspace, seen: Seen, beside: readonly Beside[]): Assessment {
  const main = assessedPart(workspace, seen, { part: MAIN, deployment: seen.deployment })
  if (main.state !== 'Running' && main.state !== 'Stopped') return main
  const late = beside.map((each) => assessedPart(workspace, seen, each)).find(({ state }) => state !== main.state)
  // One whose Deployment is not seen yet is on its way.
  return late?.state === 'Unknown' ? { ...late, state: main.state === 'Running' ? 'Starting' : 'Stopping' } : (late ?? main)
}

/** A start that takes long is looked at more closely; then what is seen there is evidence, too. */
function assessedPart(
  { metadata, status }: Workspace,
  { pods: all, connection, now }: Seen,
  { part, deployment }: Beside,
): Assessment {
  const pods = all.filter((pod) => partOf(pod) === part)
  const { steadyAfterSeconds } = status?.class?.settings ?? {}
  const steadyAfter = steadyAfterSeconds === undefined ? undefined : seconds(steadyAfterSeconds)
  const evidence = { now, deployment, pods, before: status, steadyAfter }
  const first = assess(evidence)
  return first.needsLook ? assess({ ...evidence, ...connection.closer.at(metadata.uid ?? '', pods) }) : first
}

export interface StandingServices {
  lookup: ClaimLookup
  connections: TargetConnections
}

/** The state of a workspace whose objects cannot be made, or changed, as it wants them now. */
interface Standing {
  assessment: Assessment
  pods: Pod[]
}

/** One for which nothing was ever made, or everything is gone. */
const NOTHING: Standing = { assessment: { state: 'Stopped', stages: 0, needsLook: false }, pods: [] }

/**
 * Tells how a workspace fares that still runs as it was made before, or ends because it is to stop; nothing where that is not known,
 * and where nothing runs that is to run. A mistake in the wish must neither hide what runs, nor keep it from being stopped.
 */
export function standing(
  workspace: Workspace,
  settings: WorkspaceClassSpec | undefined,
  now: number,
  services: StandingServices,
): Standing | undefined {
  const found = foundIn(workspace, settings, services)
  const stands = found === 'nothing' ? NOTHING : found && standingOf(workspace, found, now)
  if (!stands || !isWanted(workspace)) return stands
  const { state } = stands.assessment
  return state === 'Running' || state === 'Starting' ? stands : undefined
}

function standingOf(workspace: Workspace, { connection, deployments, pods }: Found, now: number): Standing {
  const deployment = deployments.find((each) => partOfDeployment(each) === MAIN)
  const others = deployments.filter((each) => each !== deployment)
  const beside = others.map((each) => ({ part: partOfDeployment(each), deployment: each }))
  return { assessment: assessedWith(workspace, { deployment, pods, connection, now }, beside), pods }
}

/** Ends what runs of a workspace that is to be stopped: for that nothing but its target has to be there and in order. */
export async function endStanding(
  workspace: Workspace,
  settings: WorkspaceClassSpec | undefined,
  services: StandingServices,
): Promise<void> {
  const found = isWanted(workspace) ? undefined : foundIn(workspace, settings, services)
  if (!found || found === 'nothing') return
  for (const each of found.deployments.filter(({ spec }) => spec?.replicas !== 0))
    await found.connection.kube.patch(Deployments, refOf(each), { spec: { replicas: 0 } }, { manager: MANAGER })
}

interface Found {
  connection: TargetConnection
  /** Those of its pods; a devfile's own are not among them. */
  deployments: Deployment[]
  pods: Pod[]
}

function foundIn(
  workspace: Workspace,
  settings: WorkspaceClassSpec | undefined,
  { lookup, connections }: StandingServices,
): Found | 'nothing' | undefined {
  // A workspace that was never given a target has nothing anywhere.
  const never = workspace.status?.target ? undefined : 'nothing'
  const target = settings && findTarget(workspace, settings.sharedNamespace, lookup)
  if (!target || isObstacle(target)) return never
  const connection = connections.of(workspace, target)
  if (!connection.isReady()) return undefined
  const { uid = '' } = workspace.metadata
  const deployments = connection.deployments
    .by(BY_WORKSPACE, uid)
    .filter((each) => !isDeleting(each) && each.spec?.selector?.matchLabels?.[labels.workspacePart] !== undefined)
  const pods = connection.pods.by(BY_WORKSPACE, uid)
  const isGone = deployments.length === 0 && !pods.some((pod) => isThere(pod) && partOf(pod) !== AFTER_STOP)
  return isGone ? 'nothing' : { connection, deployments, pods }
}
