import type { EventRecorder } from '../../adapters/kube/index.ts'
import { conditionOf, type Workspace, type WorkspaceStatus } from '../../api/index.ts'
import type { Next } from '../../engines/controller/index.ts'
import { REMARKS } from './remarks.ts'

const TOLD: readonly string[] = ['Ready', ...REMARKS]
/** Stations of an ordinary life; every other reason not to be ready is a trouble. */
const ORDINARY = ['Starting', 'Running', 'Stopping', 'Stopped', 'Terminating', 'Terminated', 'ClaimPending', 'Connecting']

/** An Event for each new reason: who looks at the Events reads the life of the workspace in order. */
export function tellChanges(events: EventRecorder, workspace: Workspace, next: Next): Next {
  const news = (next.status?.conditions ?? []).filter(
    ({ type, reason }) => TOLD.includes(type) && conditionOf(workspace.status?.conditions, type)?.reason !== reason,
  )
  for (const { status, reason, message } of news)
    events.record(workspace, { type: status === 'True' || ORDINARY.includes(reason) ? 'Normal' : 'Warning', reason, message })
  return next
}

/** The end of its postStop commands. A failure keeps nobody from anything; it must not go unnoticed, either. */
export function tellPostStop(events: EventRecorder, workspace: Workspace, postStop: WorkspaceStatus['postStop']): void {
  const { result, message, of } = postStop ?? {}
  const before = workspace.status?.postStop
  if (message === undefined || result === 'Running' || (result === before?.result && of === before?.of)) return
  events.record(workspace, { type: result === 'Failed' ? 'Warning' : 'Normal', reason: `PostStop${result}`, message })
}
