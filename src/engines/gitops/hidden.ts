import { isRecord } from '../../std/index.ts'

const MASK = '***'

/** A value as it may be shown: wherever one of the hidden texts stands in it, `***` stands. */
export interface Hiding {
  text(text: string): string
  value(value: unknown): unknown
}

/** For values that came from Secrets and were put into other objects: nothing about those objects tells that they are secret. */
export function hiding(hidden: ReadonlySet<string> = new Set()): Hiding {
  // The longest first: of two, one may be a part of the other.
  const secrets = [...hidden].filter((secret) => secret !== '').sort((a, b) => b.length - a.length)
  const numbers = new Set(secrets.map(Number))
  const words = new Set(secrets.map((secret) => secret.toLowerCase()))
  const text = (given: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, MASK), given)
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    // A variable that is a whole field takes the type that YAML gives it.
    if (typeof given === 'number') return numbers.has(given) ? MASK : given
    if (typeof given === 'boolean') return words.has(String(given)) ? MASK : given
    if (Array.isArray(given)) return given.map(value)
    if (!isRecord(given)) return given
    return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, value(inner)]))
  }
  return { text, value: secrets.length === 0 ? (given) => given : value }
}
