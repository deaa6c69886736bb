import { type Pod, refOf, type Workspace, Workspaces } from '../../../api/index.ts'
import { again, type ControllerContext, type Next, settled } from '../../../engines/controller/index.ts'
import { isThere } from '../actual-state/index.ts'
import { nextTurn } from '../lifetime/expiry.ts'
import { comparedFor } from '../objects/comparisons.ts'
import { CONTROLLER } from '../place/claim.ts'
import { statusOf, type WorkspaceFindings } from './status.ts'

/** In so many milliseconds what was just written is in the caches, and others have done their part. */
export const NEXT_TURN = 50

interface Ending {
  pods: Pod[]
  context: ControllerContext
  /** In how many milliseconds to look again anyway. */
  recheck?: number | undefined
}

/** The status; and what the workspace asks for itself: the second half of a restart, the end of its time. */
export async function conclude(
  workspace: Workspace,
  findings: WorkspaceFindings,
  { pods, context, recheck }: Ending,
): Promise<Next> {
  const status = statusOf(workspace, { ...findings, pods })
  const { now, chosen, assessment } = findings
  if (workspace.spec.desiredState === 'RestartRequested' && assessment?.state === 'Stopped' && !pods.some(isThere)) {
    return settled({ status, object: await changeWish(context, workspace, { desiredState: 'Running' }) })
  }
  const turn = chosen && nextTurn(workspace, status.actualState ?? 'Unknown', chosen.settings, now)
  if (!turn || turn.at > now) {
    const then = recheck === undefined ? undefined : now + recheck
    return settled({ status, object: workspace, recheck: soonest(findings, turn?.at, then) })
  }
  const because = turn.becomes === 'Running' ? {} : { stoppedBecause: `${turn.reason}: ${turn.why}` }
  const told = { ...status, ...because }
  const message = `it becomes ${turn.becomes}: ${turn.why}`
  // The reason is said before the deed: whatever comes between the two, it is not lost.
  if (because.stoppedBecause !== workspace.status?.stoppedBecause && turn.becomes === 'Stopped') {
    return again({ after: NEXT_TURN, why: message, status: told, object: workspace })
  }
  const object = await changeWish(context, workspace, { desiredState: turn.becomes })
  context.events.record(workspace, { type: 'Normal', reason: `${turn.becomes}By${turn.reason}`, message })
  return settled({ status: told, object })
}

/** In how long something may be otherwise though nothing changes: a wait is over, its time is, or everything is due to be compared. */
const soonest = ({ now, assessment }: WorkspaceFindings, ...times: (number | undefined)[]): number =>
  Math.min(
    comparedFor(assessment?.state),
    ...[assessment?.recheckAt, ...times].flatMap((time) => (time === undefined ? [] : [Math.max(time - now, 0)])),
  )

/** `conflict` when somebody else changed the workspace since it was read. */
function changeWish({ kube }: ControllerContext, workspace: Workspace, spec: Partial<Workspace['spec']>): Promise<Workspace> {
  const metadata = { resourceVersion: workspace.metadata.resourceVersion ?? '' }
  return kube.patch(Workspaces, refOf(workspace), { metadata, spec }, { manager: CONTROLLER })
}
