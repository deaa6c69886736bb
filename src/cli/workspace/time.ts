import { hours, minutes, seconds } from '../../std/index.ts'

const DAY = hours(24)

/** How long something is or was, in one unit: `12 s`, `5 min`, `3 h`, `9 d`. */
export function spelled(ms: number): string {
  const length = Math.max(ms, 0)
  if (length < seconds(10)) return `${(length / 1000).toFixed(1)} s`
  if (length < minutes(2)) return `${Math.round(length / 1000)} s`
  if (length < hours(2)) return `${Math.round(length / minutes(1))} min`
  return length < 2 * DAY ? `${Math.round(length / hours(1))} h` : `${Math.round(length / DAY)} d`
}

/** How long ago; empty for what never was. */
export const since = (time: string | undefined, now: number): string => (time ? spelled(now - Date.parse(time)) : '')

/** `in 3 h`, or `now` for what is due. */
export function until(time: string, now: number): string {
  const ms = Date.parse(time) - now
  return ms <= 0 ? 'now' : `in ${spelled(ms)}`
}
