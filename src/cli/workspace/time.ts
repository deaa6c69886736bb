import { spelled } from '../../std/index.ts'

/** The time since then; empty for what never was. */
export const since = (time: string | undefined, now: number): string => (time ? spelled(now - Date.parse(time)) : '')

/** `in 3 h`, or `now` for what is due. */
export function until(time: string, now: number): string {
  const ms = Date.parse(time) - now
  return ms <= 0 ? 'now' : `in ${spelled(ms)}`
}
