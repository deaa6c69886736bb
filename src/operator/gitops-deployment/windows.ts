import type { GitOpsDeployment } from '../../api/index.ts'
import { type Cron, durationOf, Failure, lastMatch, nextMatch, parseCron, timeZoneOf } from '../../std/index.ts'

type Written = NonNullable<GitOpsDeployment['spec']['syncWindows']>[number]

interface Window {
  isAllow: boolean
  cron: Cron
  /** Milliseconds. */
  duration: number
}

export interface Opening {
  isOpen: boolean
  /** When that changes, milliseconds since 1970; `undefined` when it never does. */
  until: number | undefined
}

/**
 * Whether commits may be applied now. Without windows they always may; with Allow windows, only inside one of them; inside a
 * Deny window never. A schedule that cannot be read is an `invalid` failure that names the field.
 */
export function openingAt(now: number, written: readonly Written[] | undefined): Opening {
  const windows = (written ?? []).map(windowOf)
  const isOpen = isOpenAt(now, windows)
  return { isOpen, until: windows.length === 0 ? undefined : changeAfter(now, isOpen, windows) }
}

function windowOf({ kind, schedule, duration, timeZone = 'UTC' }: Written, index: number): Window {
  const zone = timeZoneOf(timeZone)
  if (zone === undefined) throw mistaken(`spec.syncWindows[${index}].timeZone: there is no time zone ${timeZone}`)
  const cron = parseCron(schedule, zone)
  if ('wrong' in cron) throw mistaken(`spec.syncWindows[${index}].schedule: ${JSON.stringify(schedule)} ${cron.wrong}`)
  return { isAllow: kind === 'Allow', cron, duration: durationOf(duration) }
}

const mistaken = (message: string) =>
  new Failure('invalid', message, {
    reason: 'SyncWindowInvalid',
    remedy: 'Write five cron fields, such as `0 22 * * mon-fri`, and a time zone such as Europe/Berlin',
  })

function isOpenAt(now: number, windows: readonly Window[]): boolean {
  const active = windows.filter((window) => endOf(window, now) !== undefined)
  if (active.some(({ isAllow }) => !isAllow)) return false
  return active.length > 0 || !windows.some(({ isAllow }) => isAllow)
}

/** When the window that is open at this time closes. */
function endOf({ cron, duration }: Window, now: number): number | undefined {
  const opened = lastMatch(cron, now, now - duration + 1)
  return opened === undefined ? undefined : opened + duration
}

/** Windows may overlap: the state is looked at wherever one opens or closes. */
const MOST_CHANGES = 64

function changeAfter(now: number, isOpen: boolean, windows: readonly Window[]): number | undefined {
  let at: number | undefined = now
  for (let tries = 0; tries < MOST_CHANGES && at !== undefined; tries++) {
    at = nextEdge(at, windows)
    if (at !== undefined && isOpenAt(at, windows) !== isOpen) return at
  }
  return at
}

function nextEdge(after: number, windows: readonly Window[]): number | undefined {
  const edges = windows.flatMap((window) => [endOf(window, after), nextMatch(window.cron, after)])
  const later = edges.filter((edge): edge is number => edge !== undefined && edge > after)
  return later.length > 0 ? Math.min(...later) : undefined
}
