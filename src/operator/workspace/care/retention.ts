import { conditionOf, refOf, type Workspace, Workspaces } from '../../../api/index.ts'
import { type Next, settled } from '../../../engines/controller/index.ts'
import { hours, isFailure, timestamp } from '../../../std/index.ts'
import { classNameOf } from '../class.ts'
import { REMOVED, statusOfEnd } from '../end.ts'
import type { Room } from '../room.ts'

/** Keeps the record of a workspace of which nothing is left, as long as its class says; then nobody needs to remember it. */
export async function keepRecord(workspace: Workspace, { workshop, classes }: Room): Promise<Next> {
  const now = workshop.clock.now()
  const settings = workspace.status?.class?.settings ?? classes.get({ name: classNameOf(workspace) })?.spec
  const end = endOf(workspace, settings?.maxTerminatedHoursBeforeDeletion ?? -1)
  const status = statusOfEnd(workspace, 'Terminated', undefined)
  if (end === undefined) return settled({ status })
  if (end > now) return settled({ status: { ...status, willDeleteAt: timestamp(end) }, recheck: end - now })
  const { uid, resourceVersion } = workspace.metadata
  try {
    await workshop.kube.delete(Workspaces, refOf(workspace), { uid, resourceVersion })
  } catch (thrown) {
    // Somebody has just changed it, and that wakes it again.
    if (!isFailure(thrown, 'conflict')) throw thrown
  }
  return settled()
}

/** Milliseconds since 1970; nothing for a record that is kept for ever, or is none yet. */
function endOf({ status }: Workspace, kept: number): number | undefined {
  const removed = conditionOf(status?.conditions, REMOVED)
  // Counted from what the status says; writing that wakes the workspace again.
  return kept < 0 || removed?.status !== 'True' ? undefined : Date.parse(removed.lastTransitionTime) + hours(kept)
}
