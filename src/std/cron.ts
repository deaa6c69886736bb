import { hours, minutes } from './clock.ts'

/** A parsed cron expression: which minutes match. */
export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** A day matches by its date or its weekday when both are limited, as in crontab(5). */
  readonly either: boolean
}

const ALIASES: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

interface Field {
  name: string
  from: number
  to: number
  words?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIELDS = {
  minute: { name: 'minute', from: 0, to: 59 },
  hour: { name: 'hour', from: 0, to: 23 },
  day: { name: 'day of the month', from: 1, to: 31 },
  month: { name: 'month', from: 1, to: 12, words: MONTHS },
  weekday: { name: 'day of the week', from: 0, to: 7, words: WEEKDAYS },
} satisfies Record<string, Field>

/** Five fields as in crontab(5): lists, ranges, steps, names of months and weekdays, `@daily` and its like. */
export function parseCron(text: string): Cron | { readonly wrong: string } {
  const parts = (ALIASES[text.trim()] ?? text).trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts
  if (parts.length !== 5) return { wrong: `has ${parts.length} fields; minute, hour, day, month and weekday are meant` }
  try {
    const cron = {
      minutes: valuesOf(minute, FIELDS.minute),
      hours: valuesOf(hour, FIELDS.hour),
      days: valuesOf(day, FIELDS.day),
      months: valuesOf(month, FIELDS.month),
      weekdays: new Set([...valuesOf(weekday, FIELDS.weekday)].map((value) => value % 7)),
      either: !day.startsWith('*') && !weekday.startsWith('*'),
    }
    return cron
  } catch (thrown) {
    if (thrown instanceof RangeError) return { wrong: thrown.message }
    throw thrown
  }
}

function valuesOf(text: string, field: Field): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const [range = '', step, ...more] = part.split('/')
    const every = step === undefined ? 1 : Number(step)
    if (more.length > 0 || !Number.isInteger(every) || every < 1) throw new RangeError(`${field.name}: ${part} has no meaning`)
    const [first, last] = boundsOf(range, field, step !== undefined)
    for (let value = first; value <= last; value += every) values.add(value)
  }
  return values
}

function boundsOf(range: string, field: Field, hasStep: boolean): [number, number] {
  if (range === '*') return [field.from, field.to]
  const [start = '', end, ...more] = range.split('-')
  const first = numberOf(start, field)
  const last = end === undefined ? (hasStep ? field.to : first) : numberOf(end, field)
  if (more.length > 0 || last < first) throw new RangeError(`${field.name}: ${range} is no range`)
  return [first, last]
}

function numberOf(text: string, { name, from, to, words }: Field): number {
  const word = words?.indexOf(text.toLowerCase()) ?? -1
  const value = word >= 0 ? word + from : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new RangeError(`${name}: ${JSON.stringify(text)} is not between ${from} and ${to}`)
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** How far ahead a match is looked for: the 29th of February is at most eight years away. */
const HORIZON = hours(24 * 366 * 8)

/** The first matching minute after `from`, milliseconds since 1970; `undefined` when there is none in eight years. */
export const nextMatch = (cron: Cron, from: number, timeZone = 'UTC'): number | undefined =>
  search(cron, startOf(from) + minutes(1), timeZone, 1, from + HORIZON)

/** The last matching minute at or before `from`, not before `earliest`. */
export const lastMatch = (cron: Cron, from: number, earliest: number, timeZone = 'UTC'): number | undefined =>
  search(cron, startOf(from), timeZone, -1, earliest)

const startOf = (time: number): number => time - (time % minutes(1))

/** Steps from minute to minute, over hours and days that cannot match in leaps that no change of the clocks can spoil. */
function search(cron: Cron, from: number, timeZone: string, direction: 1 | -1, end: number): number | undefined {
  const clock = zoned(timeZone)
  for (let at = from; direction * (end - at) >= 0; ) {
    const local = clock(at)
    const isRight = isDay(cron, local) && cron.hours.has(local.hour)
    if (isRight && cron.minutes.has(local.minute)) return at
    at += direction * minutes(isRight ? 1 : minutesToLeap(cron, local, direction))
  }
  return undefined
}

/** To the next hour; over a day that does not match, to its last or first hour but one, so that a shifted clock hides nothing. */
function minutesToLeap(cron: Cron, local: Local, direction: 1 | -1): number {
  const { hour, minute } = local
  const isFar = !isDay(cron, local)
  if (direction === 1) return isFar && hour < 23 ? (23 - hour) * 60 - minute : 60 - minute
  return isFar && hour > 1 ? (hour - 1) * 60 : minute + 1
}

interface Local {
  minute: number
  hour: number
  day: number
  month: number
  weekday: number
}

function isDay({ days, months, weekdays, either }: Cron, { day, month, weekday }: Local): boolean {
  if (!months.has(month)) return false
  return either ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday)
}

/** What a wall clock of the zone shows. Throws a RangeError for a zone that does not exist. */
function zoned(timeZone: string): (time: number) => Local {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    minute: 'numeric',
    hour: 'numeric',
    day: 'numeric',
    month: 'numeric',
    weekday: 'short',
  })
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
    return {
      minute: number('minute'),
      hour: number('hour'),
      day: number('day'),
      month: number('month'),
      weekday: WEEKDAYS.indexOf((parts.get('weekday') ?? '').toLowerCase()),
    }
  }
}
