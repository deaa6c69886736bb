import type { GitOpsDeployment } from '../../../api/index.ts'
import { type Cron, durationOf, Failure, LRUCache, lastMatch, nextMatch, parseCron, timeZoneOf } from '../../../std/index.ts'

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

/** Throws what `openingAt` would of a schedule that cannot be read, without the time that the rest takes. */
export function checkWindows(written: readonly Written[] = []): void {
  written.forEach(windowOf)
}

export type FindOpening = typeof openingAt

/** Characters of windows of which the answer is remembered; those of one deployment have 5,000 at most. */
const MOST_REMEMBERED = 250_000

/**
 * `openingAt`, remembered. To find it out takes milliseconds, and whoever edits a deployment has it asked for each time: the answer stands
 * until the state changes.
 */
export function rememberedOpenings(find: FindOpening = openingAt): FindOpening {
  const known = new LRUCache<string, { from: number; opening: Opening }>({
    maxSize: MOST_REMEMBERED,
    sizeCalculation: (_, text) => text.length,
  })
  return (now, written = []) => {
    const text = JSON.stringify(written)
    const last = known.get(text)
    // A clock that was set back asks for a time that the answer says nothing about.
    if (last && now >= last.from && now < (last.opening.until ?? Number.POSITIVE_INFINITY)) return last.opening
    const opening = find(now, written)
    known.set(text, { from: now, opening })
    return opening
  }
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

/** Windows may follow one another without end, so it is looked so often; the time that was reached then is when to look again. */
const MOST_LOOKS = 8

/** Windows may overlap: it goes from one time at which the state may change to the next, past all that cannot change it. */
function changeAfter(now: number, isOpen: boolean, windows: readonly Window[]): number | undefined {
  const next = isOpen ? earliestClosing : earliestOpening
  let at: number | undefined = now
  for (let looks = 0; looks < MOST_LOOKS && at !== undefined; looks++) {
    at = next(at, windows)
    if (at !== undefined && isOpenAt(at, windows) !== isOpen) return at
  }
  return at
}

/** Closed windows stay so until the last Deny window that is open closes; where none is, until an Allow window opens. */
function earliestOpening(after: number, windows: readonly Window[]): number | undefined {
  const denied = endsOf(windows.filter(denies), after)
  return denied.length > 0 ? Math.max(...denied) : earliest(openingsOf(windows.filter(allows), after))
}

/** Open windows stay so until a Deny window opens, or the last Allow window that is open closes. */
function earliestClosing(after: number, windows: readonly Window[]): number | undefined {
  const allowed = endsOf(windows.filter(allows), after)
  const denied = openingsOf(windows.filter(denies), after)
  return earliest(allowed.length > 0 ? [Math.max(...allowed), ...denied] : denied)
}

const allows = ({ isAllow }: Window): boolean => isAllow
const denies = ({ isAllow }: Window): boolean => !isAllow

const endsOf = (windows: readonly Window[], at: number): number[] => windows.flatMap((window) => endOf(window, at) ?? [])

const openingsOf = (windows: readonly Window[], after: number): number[] =>
  windows.flatMap(({ cron }) => nextMatch(cron, after) ?? [])

const earliest = (times: readonly number[]): number | undefined => (times.length > 0 ? Math.min(...times) : undefined)
