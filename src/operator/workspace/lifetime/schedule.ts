import type { WorkspaceSpec } from '../../../api/index.ts'
import { type Cron, lastMatch, nextMatch, parseCron, timeZoneOf } from '../../../std/index.ts'

/** When a workspace is started and stopped by the clock. */
export interface Schedule {
  start: Cron | undefined
  stop: Cron | undefined
}

/** Reads the cron fields, which the schema cannot; or tells what is `wrong` with them. */
export function scheduleFrom({
  start,
  stop,
  timeZone = 'UTC',
}: NonNullable<WorkspaceSpec['schedule']>): Schedule | { wrong: string } {
  const zone = timeZoneOf(timeZone)
  if (zone === undefined) return { wrong: `timeZone: there is no time zone ${timeZone}` }
  const [begin, end] = [start, stop].map((text) => (text === undefined ? undefined : parseCron(text, zone)))
  if (begin && 'wrong' in begin) return { wrong: `start: ${JSON.stringify(start)} ${begin.wrong}` }
  if (end && 'wrong' in end) return { wrong: `stop: ${JSON.stringify(stop)} ${end.wrong}` }
  return { start: begin, stop: end }
}

/**
 * When a workspace that is stopped since then is started. A start that nobody was there for is made up for, unless the schedule
 * has since said stop: nobody wants on Thursday night what was to begin on Monday.
 */
export function startAfter({ start, stop }: Schedule, since: number, now: number): number | undefined {
  if (!start) return undefined
  const missed = lastMatch(start, now, since + 1)
  const isOver = missed !== undefined && stop !== undefined && lastMatch(stop, now, missed + 1) !== undefined
  return missed !== undefined && !isOver ? missed : nextMatch(start, now)
}
