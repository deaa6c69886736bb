import { hours, minutes, seconds } from '../../std/index.ts'

const UNITS: Record<string, (n: number) => number> = { s: seconds, m: minutes, h: hours }

/** `1h30m` in milliseconds, at least ten seconds; the schema has checked the text. */
export function intervalOf(text = '10m'): number {
  let sum = 0
  for (const [, count, unit = ''] of text.matchAll(/(\d+)([smh])/g)) sum += UNITS[unit]?.(Number(count)) ?? 0
  return Math.max(sum, seconds(10))
}
