import { hours, minutes, seconds } from './clock.ts'

const UNITS: Readonly<Record<string, (n: number) => number>> = { s: seconds, m: minutes, h: hours }

/** `1h30m` in milliseconds. For texts whose form a CRD's schema has checked; what is no hour, minute or second counts nothing. */
export function durationOf(text: string): number {
  let sum = 0
  for (const [, count, unit = ''] of text.matchAll(/(\d+)([smh])/g)) sum += UNITS[unit]?.(Number(count)) ?? 0
  return sum
}
