import { quantity } from '../../std/index.ts'

const QUANTITIES = ['requests', 'limits']

/** Whether the object holds everything that is wanted of it. Defaults that the server added do not count. */
export function holds(wanted: unknown, is: unknown, field = ''): boolean {
  if (Array.isArray(wanted)) {
    if (wanted.length === 0) return is === undefined || (Array.isArray(is) && is.length === 0)
    return Array.isArray(is) && is.length === wanted.length && wanted.every((item, i) => holds(item, is[i], field))
  }
  if (isRecord(wanted))
    return Object.entries(wanted).every(([key, value]) => holds(value, isRecord(is) ? is[key] : undefined, keyFor(field, key)))
  // The server leaves out empty texts and false.
  if (is === undefined) return wanted === '' || wanted === false || wanted === undefined
  if (QUANTITIES.includes(field)) return quantity(String(wanted)) === quantity(String(is))
  return wanted === is
}

/** The server writes quantities its own way: 1000m is 1. */
const keyFor = (field: string, key: string): string => (QUANTITIES.includes(field) ? field : key)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
