import type { Cache } from '../../../adapters/kube/index.ts'
import { conditionOf, refOf, type Workspace, type WorkspaceClass, Workspaces } from '../../../api/index.ts'
import { type ControllerContext, type Next, type StatusDraft, settled } from '../../../engines/controller/index.ts'
import { beginningOf, hours, timestamp, unlessFailed } from '../../../std/index.ts'
import { classNameOf } from '../place/class.ts'

/** The condition of a workspace that ends. Its time says since when. */
export const REMOVED = 'Removed'

/** The end waits for it: in a word, and in a sentence. */
export interface Remains {
  what: string
  message: string
}

const MOST_NAMED = 10

/** Names the objects that are still there. */
export function sayLeft(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMED).map((name) => beginningOf(name, 100))
  const more = names.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** The status of a workspace that is going, or gone. */
export function statusOfEnd(
  { status, metadata }: Workspace,
  state: 'Terminating' | 'Terminated',
  remains: Remains | undefined,
): StatusDraft {
  const {
    conditions,
    observedGeneration,
    failure,
    url,
    ports,
    ssh,
    willStopAt,
    willStopReason,
    willStartAt,
    willTerminateAt,
    willTerminateReason,
    willDeleteAt,
    activeSince,
    resources,
    backups,
    kept,
    waitingFor: _,
    waiting,
    step,
    ...known
  } = status ?? {}
  const message =
    remains?.message ?? (state === 'Terminated' ? 'everything of it is removed' : 'everything of it is being removed')
  const statement = { status: 'False', reason: state, message, observedGeneration: metadata.generation ?? 0 } as const
  return {
    ...known,
    actualState: state,
    ...(remains && { waitingFor: remains.what }),
    conditions: [
      { type: 'Ready', ...statement },
      { type: 'Applied', ...statement },
      { type: 'DeploymentReady', ...statement },
      { type: REMOVED, ...statement, status: state === 'Terminated' ? 'True' : 'False' },
    ],
  }
}

/** Keeps the record of a workspace of which nothing is left, as long as its class says; then nobody needs to remember it. */
export async function keepRecord(
  workspace: Workspace,
  { context, classes }: { context: ControllerContext; classes: Cache<WorkspaceClass> },
): Promise<Next> {
  const now = context.clock.now()
  const settings = workspace.status?.class?.settings ?? classes.get({ name: classNameOf(workspace) })?.spec
  const end = endOf(workspace, settings?.maxTerminatedHoursBeforeDeletion ?? -1)
  const status = statusOfEnd(workspace, 'Terminated', undefined)
  if (end === undefined) return settled({ status })
  if (end > now) return settled({ status: { ...status, willDeleteAt: timestamp(end) }, recheck: end - now })
  const { uid, resourceVersion } = workspace.metadata
  // After a conflict somebody has just changed it, and that wakes it again.
  await unlessFailed(context.kube.delete(Workspaces, refOf(workspace), { uid, resourceVersion }), 'conflict')
  return settled()
}

/** Milliseconds since 1970; nothing for a record that is kept for ever, or is none yet. */
function endOf({ status }: Workspace, kept: number): number | undefined {
  const removed = conditionOf(status?.conditions, REMOVED)
  // Counted from what the status says; writing that wakes the workspace again.
  return kept < 0 || removed?.status !== 'True' ? undefined : Date.parse(removed.lastTransitionTime) + hours(kept)
}
