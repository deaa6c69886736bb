import { hours, minutes, seconds } from './clock.ts'

const UNITS: Readonly<Record<string, (n: number) => number>> = { s: seconds, m: minutes, h: hours }

/** `1h30m` in milliseconds. For texts whose form a CRD's schema has checked; what is no hour, minute or second counts nothing. */
export function durationOf(text: string): number {
  let sum = 0
  for (const [, count, unit = ''] of text.matchAll(/(\d+)([smh]?)/g)) sum += UNITS[unit]?.(Number(count)) ?? 0
  return sum
}

const DAY = hours(24)

/** How long something is or was, in one unit: `12 s`, `5 min`, `3 h`, `9 d`. */
export function spelled(ms: number): string {
  const length = Math.max(ms, 0)
  if (length < seconds(10)) return `${(length / 1000).toFixed(1)} s`
  if (length < minutes(2)) return `${Math.round(length / 1000)} s`
  if (length < hours(2)) return `${Math.round(length / minutes(1))} min`
  return length < 2 * DAY ? `${Math.round(length / hours(1))} h` : `${Math.round(length / DAY)} d`
}
