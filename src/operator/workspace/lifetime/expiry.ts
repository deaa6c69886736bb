import { annotations, type Workspace, type WorkspaceClassSpec, type WorkspaceStatus } from '../../../api/index.ts'
import { defined, hours, minutes, nextMatch, seconds, timestamp } from '../../../std/index.ts'
import type { ActualState } from '../actual-state/index.ts'
import { type Schedule, scheduleFrom, startAfter } from './schedule.ts'

/** Since when a workspace is as it is, and when that ends by itself, and why. */
export type Times = Pick<
  WorkspaceStatus,
  | 'startedAt'
  | 'stoppedAt'
  | 'activeSince'
  | 'stoppedBecause'
  | 'lastActivityAt'
  | 'lastActivityBy'
  | 'kept'
  | 'willStopAt'
  | 'willStopReason'
  | 'willStartAt'
  | 'willTerminateAt'
  | 'willTerminateReason'
>

/** A change of the wish that comes by itself. */
export interface Turn {
  at: number
  becomes: 'Running' | 'Stopped' | 'Terminated'
  /** One word. */
  reason: string
  /** Why, in half a sentence. */
  why: string
}

/** The proxy tells of the use of workspaces at least this often; an older word is not believed. */
const STALE = minutes(10)

/** The limits of the class and the schedule, as far as they concern a workspace that is as it is now. */
export function timesOf(workspace: Workspace, state: ActualState, settings: WorkspaceClassSpec, now: number): Times {
  const known = knownTimesOf(workspace, state, settings, now)
  const turns = turnsOf({ workspace, state, settings, now }, known)
  const [stop, start, end] = (['Stopped', 'Running', 'Terminated'] as const).map((wanted) => first(turns, wanted))
  return {
    ...known,
    ...defined({
      stoppedBecause: isWanted(workspace) ? undefined : workspace.status?.stoppedBecause,
      willStopAt: stop && timestamp(stop.at),
      willStopReason: stop?.reason,
      willStartAt: start && timestamp(start.at),
      willTerminateAt: end && timestamp(end.at),
      willTerminateReason: end?.reason,
    }),
  }
}

/** The change that comes next by itself. */
export function nextTurn(workspace: Workspace, state: ActualState, settings: WorkspaceClassSpec, now: number): Turn | undefined {
  return first(turnsOf({ workspace, state, settings, now }, knownTimesOf(workspace, state, settings, now)))
}

/** Times that have been; what comes follows from them. */
function knownTimesOf(workspace: Workspace, state: ActualState, settings: WorkspaceClassSpec, now: number): Times {
  const { lastActivityAt, lastActivityBy } = useOf(workspace, now)
  return {
    ...marksOf(workspace, state, now),
    ...defined({ kept: keptOf(workspace, settings, now), lastActivityAt, lastActivityBy }),
  }
}

const first = (turns: Turn[], becomes?: Turn['becomes']): Turn | undefined =>
  turns.filter((turn) => becomes === undefined || turn.becomes === becomes).sort((a, b) => a.at - b.at)[0]

interface Present {
  workspace: Workspace
  state: ActualState
  settings: WorkspaceClassSpec
  now: number
}

function turnsOf(present: Present, times: Times): Turn[] {
  const written = present.workspace.spec.schedule ?? present.settings.schedule
  const read = written && scheduleFrom(written)
  // One that cannot be read does nothing.
  const schedule = read && 'wrong' in read ? undefined : read
  const turns = [...stops(present, times, schedule), ...starts(present, times, schedule), ...ends(present, times)]
  // The API keeps whole seconds: what is announced is what is done.
  return turns.map((turn) => ({ ...turn, at: Math.ceil(turn.at / 1000) * 1000 }))
}

/** "Active" begins when it is found running; for one that never comes up, when it was to. */
function stops(present: Present, { startedAt, stoppedAt, activeSince, kept }: Times, schedule: Schedule | undefined): Turn[] {
  const { workspace, state, settings } = present
  if (!isWanted(workspace)) return []
  const isUp = startedAt !== undefined && !isStopped(startedAt, stoppedAt)
  const since = Date.parse((isUp ? startedAt : activeSince) ?? '')
  if (Number.isNaN(since)) return []
  const { maxActiveHoursBeforeStop: most = 36, idle } = settings
  const clock = schedule?.stop && nextMatch(schedule.stop, since)
  const used = isUp && state === 'Running' ? usedUntil(present, since) : undefined
  const limit = idle?.stopAfterMinutes ?? 0
  const turns = [
    stopping(since + hours(most), 'MaxActiveHours', `it has been up for the ${most} h that its class allows`),
    ...(clock === undefined ? [] : [stopping(clock, 'Schedule', 'its schedule stops it')]),
    ...(used === undefined || limit === 0
      ? []
      : [stopping(used + minutes(limit), 'Idle', `nobody has used it for ${limit} min, which is as long as its class waits`)]),
  ]
  const notBefore = kept ? Date.parse(kept.until) : 0
  return turns.map((each) => ({ ...each, at: Math.max(each.at, notBefore) }))
}

const stopping = (at: number, reason: string, why: string): Turn => ({ at, becomes: 'Stopped', reason, why })

/** Since when nobody has used it. Where that is not known, or was told too long ago, nothing is stopped. */
function usedUntil({ workspace, now }: Present, startedAt: number): number | undefined {
  const { last, isWatched } = useOf(workspace, now)
  return isWatched ? Math.max(last ?? 0, startedAt) : undefined
}

const WAYS = ['Requests', 'Connection', 'SSH'] as const

/** The proxy tells when somebody used the workspace last. */
function useOf({ metadata }: Workspace, now: number) {
  const last = Date.parse(metadata.annotations?.[annotations.lastActivity] ?? '')
  const seen = Date.parse(metadata.annotations?.[annotations.activityWatched] ?? '')
  const isWatched = seen <= now + STALE && now - seen <= STALE
  if (Number.isNaN(last)) return { isWatched }
  const lastActivityBy = WAYS.find((way) => way === metadata.annotations?.[annotations.lastActivityBy])
  // A time that is still to come was written by a clock that is wrong.
  const at = Math.min(last, now)
  return { isWatched, last: at, lastActivityAt: timestamp(at), lastActivityBy }
}

function starts({ workspace, state, now }: Present, { stoppedAt }: Times, schedule: Schedule | undefined): Turn[] {
  if (isWanted(workspace) || state !== 'Stopped' || !stoppedAt || !schedule) return []
  const at = startAfter(schedule, Date.parse(stoppedAt), now)
  return at === undefined ? [] : [{ at, becomes: 'Running', reason: 'Schedule', why: 'its schedule starts it' }]
}

function ends({ workspace, state, settings }: Present, { stoppedAt }: Times): Turn[] {
  const { maxStoppedHoursBeforeTermination: most = 744, maxLifeHours: life = 8760 } = settings
  const born = Date.parse(workspace.metadata.creationTimestamp ?? '')
  const stopped = stoppedAt !== undefined && state === 'Stopped' ? Date.parse(stoppedAt) + hours(most) : Number.NaN
  const turns = [
    { at: stopped, reason: 'MaxStoppedHours', why: `it has been stopped for the ${most} h that its class allows` },
    { at: born + hours(life), reason: 'MaxLifeHours', why: `it is as old as its class allows, ${life} h` },
  ]
  return turns.filter(({ at }) => !Number.isNaN(at)).map((turn) => ({ ...turn, becomes: 'Terminated' }))
}

function marksOf(workspace: Workspace, state: ActualState, now: number): Times {
  const before = workspace.status
  const wasStopped = isStopped(before?.startedAt, before?.stoppedAt)
  // Times are whole seconds: a start is later than the stop before it, and a stop no earlier than its start, be they of one second.
  const nextStart = Math.max(now, before?.stoppedAt ? Date.parse(before.stoppedAt) + seconds(1) : 0)
  const startedAt = state === 'Running' && (wasStopped || !before?.startedAt) ? timestamp(nextStart) : before?.startedAt
  const nextStop = Math.max(now, before?.startedAt ? Date.parse(before.startedAt) : 0)
  const stoppedAt = state === 'Stopped' && !wasStopped ? timestamp(nextStop) : before?.stoppedAt
  const activeSince = isWanted(workspace) ? sinceOf(before?.activeSince, stoppedAt, now) : undefined
  return defined({ startedAt, stoppedAt, activeSince })
}

/** A restart begins anew where it was stopped. */
const sinceOf = (before: string | undefined, stoppedAt: string | undefined, now: number): string =>
  before === undefined || (stoppedAt !== undefined && Date.parse(before) < Date.parse(stoppedAt)) ? timestamp(now) : before

/** The wish to be kept, within what the class allows from when it was first seen. */
function keptOf({ spec, status }: Workspace, { maxActiveHoursBeforeStop: most = 36 }: WorkspaceClassSpec, now: number) {
  if (!spec.keepUntil) return
  if (status?.kept?.asked === spec.keepUntil) return status.kept
  return { asked: spec.keepUntil, until: timestamp(Math.min(Date.parse(spec.keepUntil), now + hours(most))) }
}

export const isWanted = ({ spec }: Workspace): boolean => (spec.desiredState ?? 'Running') !== 'Stopped'

export const isStopped = (startedAt: string | undefined, stoppedAt: string | undefined): boolean =>
  stoppedAt !== undefined && (startedAt === undefined || Date.parse(stoppedAt) >= Date.parse(startedAt))
