import { Cron as Croner } from 'croner'

/** A cron expression, read for one time zone. */
export type Cron = Pick<Croner, 'nextRun' | 'previousRuns'>

const ALIASES: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const FIELDS = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12 },
  { name: 'day of the week', from: 0, to: 7 },
] as const

/** The syntax of crontab(5); croner would read L, W, # and ? too. */
const PART = /^(?:\*|(?:\d{1,2}|[a-z]{3})(?:-(?:\d{1,2}|[a-z]{3}))?)(?:\/\d{1,2})?$/i

/** The 31st of April, say. Croner looks through a thousand years for it, each time. */
const NEVER: Cron = { nextRun: () => null, previousRuns: () => [] }

/** Five fields as in crontab(5): lists, ranges, steps, names of months and weekdays, `@daily` and its like. */
export function parseCron(text: string, timeZone = 'UTC'): Cron | { readonly wrong: string } {
  const fields = (ALIASES[text.trim()] ?? text).trim().split(/\s+/)
  if (fields.length !== 5) return { wrong: `has ${fields.length} fields; minute, hour, day, month and weekday are meant` }
  return read(fields, timeZone) ?? { wrong: mistakeIn(fields) }
}

function read(fields: readonly string[], timezone: string): Cron | undefined {
  if (!fields.every((field) => field.split(',').every((part) => PART.test(part)))) return undefined
  // A start with a step goes to the end of its field: croner would take any start, and a week of its ends on Saturday.
  const ranges = fields.map((field, at) => field.replace(/(^|,)(\w+)(?=\/)/g, `$1$2-${FIELDS[at]?.to}`))
  const [minute = '', hour, day = '', month, weekday = ''] = ranges
  // The clocks are followed as they show: without a step croner would move a time that a change of the clocks leaves out.
  const stepped = minute.replace(/^\d+/, '$&-$&/1,$&')
  // A day matches by its date or its weekday when both are limited, as in crontab(5).
  const domAndDow = day.startsWith('*') || weekday.startsWith('*')
  try {
    const text = [stepped, hour, day, month, weekday].join(' ')
    const cron = new Croner(text, { mode: '5-part', timezone, domAndDow, sloppyRanges: true })
    return cron.nextRun(new Date(0)) ? cron : NEVER
  } catch {
    return undefined
  }
}

/** Names the field: croner counts days and months from 0. */
function mistakeIn(fields: readonly string[]): string {
  for (const [at, { name, from, to }] of FIELDS.entries())
    for (const part of fields[at]?.split(',') ?? []) {
      if (read(FIELDS.map(() => '*').with(at, part), 'UTC')) continue
      const lack = part.includes('/') ? 'has no meaning' : part.includes('-') ? 'is no range' : 'is not'
      return `${name}: ${JSON.stringify(part)} ${lack} between ${from} and ${to}`
    }
  return 'has no meaning'
}

/** The name of a time zone as the world writes it: croner keeps what it knows of each spelling for ever. */
export function timeZoneOf(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** The first matching minute after `from`, milliseconds since 1970; `undefined` when there is none. */
export const nextMatch = (cron: Cron, from: number): number | undefined => cron.nextRun(new Date(from))?.getTime()

/** The last matching minute at or before `from`, not before `earliest`. */
export function lastMatch(cron: Cron, from: number, earliest: number): number | undefined {
  const [last] = cron.previousRuns(1, new Date(from + 1))
  return last && last.getTime() >= earliest ? last.getTime() : undefined
}
