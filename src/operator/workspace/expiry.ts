import type { WorkspaceClassSpec, WorkspaceStatus } from '../../api/index.ts'
import { hours, timestamp } from '../../std/index.ts'
import type { ActualState } from './actual-state/index.ts'

/** Since when a workspace is as it is, and when that ends by itself. */
export type Times = Pick<WorkspaceStatus, 'startedAt' | 'stoppedAt' | 'willStopAt' | 'willTerminateAt'>

/** The hard limits of the class. "Active" begins when the workspace is found running, "stopped" when it is found stopped. */
export function timesOf(
  state: ActualState,
  before: WorkspaceStatus | undefined,
  settings: WorkspaceClassSpec,
  now: number,
): Times {
  const { maxActiveHoursBeforeStop = 36, maxStoppedHoursBeforeTermination = 744 } = settings
  const wasStopped = isStopped(before?.startedAt, before?.stoppedAt)
  const startedAt = state === 'Running' && (wasStopped || !before?.startedAt) ? timestamp(now) : before?.startedAt
  const stoppedAt = state === 'Stopped' && !wasStopped ? timestamp(now) : before?.stoppedAt
  return {
    ...(startedAt && { startedAt }),
    ...(stoppedAt && { stoppedAt }),
    ...(startedAt && !isStopped(startedAt, stoppedAt) && { willStopAt: later(startedAt, maxActiveHoursBeforeStop) }),
    ...(stoppedAt && state === 'Stopped' && { willTerminateAt: later(stoppedAt, maxStoppedHoursBeforeTermination) }),
  }
}

const isStopped = (startedAt: string | undefined, stoppedAt: string | undefined): boolean =>
  stoppedAt !== undefined && (startedAt === undefined || Date.parse(stoppedAt) >= Date.parse(startedAt))

const later = (time: string, count: number): string => timestamp(Date.parse(time) + hours(count))

/** What the workspace becomes next by itself, and when. */
export function nextEnd({ willStopAt, willTerminateAt }: Times): { at: number; becomes: 'Stopped' | 'Terminated' } | undefined {
  if (willStopAt) return { at: Date.parse(willStopAt), becomes: 'Stopped' }
  return willTerminateAt ? { at: Date.parse(willTerminateAt), becomes: 'Terminated' } : undefined
}
