import { isRecord } from '../std/index.ts'

/** A function of the language; `undefined` for arguments that it does not take. */
type Call = (...args: readonly unknown[]) => unknown

const onText =
  (use: (text: string, other: string) => unknown): Call =>
  (text, other) =>
    typeof text === 'string' && typeof other === 'string' ? use(text, other) : undefined

const ofText =
  (use: (text: string) => unknown): Call =>
  (text) =>
    typeof text === 'string' ? use(text) : undefined

/** A list of more parts than a program may look at is of no use. */
const MOST_PARTS = 20_000

/** Called on a value: `text.startsWith('a')`. Each with how many arguments it takes, the value included. */
export const METHODS: Record<string, { args: number; call: Call }> = {
  startsWith: { args: 2, call: onText((text, start) => text.startsWith(start)) },
  endsWith: { args: 2, call: onText((text, end) => text.endsWith(end)) },
  contains: { args: 2, call: onText((text, part) => text.includes(part)) },
  split: { args: 2, call: onText((text, separator) => text.split(separator, MOST_PARTS)) },
  lowerAscii: { args: 1, call: ofText((text) => text.toLowerCase()) },
  upperAscii: { args: 1, call: ofText((text) => text.toUpperCase()) },
  trim: { args: 1, call: ofText((text) => text.trim()) },
  size: { args: 1, call: sizeOf },
}

/** Called by name: `size(list)`. */
export const FUNCTIONS: Record<string, { args: number; call: Call }> = {
  size: { args: 1, call: sizeOf },
  string: { args: 1, call: (value) => (isPlain(value) ? String(value) : undefined) },
  int: { args: 1, call: (value) => whole(numberOf(value)) },
  double: { args: 1, call: numberOf },
  bool: {
    args: 1,
    call: (value) => (value === 'true' || value === true ? true : value === 'false' || value === false ? false : undefined),
  },
  timestamp: { args: 1, call: ofText((text) => numberIn(Date.parse(text))) },
}

function sizeOf(value: unknown): unknown {
  if (typeof value === 'string') return codePointsIn(value)
  if (Array.isArray(value)) return value.length
  return isRecord(value) ? Object.keys(value).length : undefined
}

function codePointsIn(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; count++) at += (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1
  return count
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? numberIn(Number(value)) : undefined
}

const numberIn = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value)
const whole = (value: number | undefined): number | undefined => (value === undefined ? undefined : Math.trunc(value))
