import { Failure } from './failure.ts'

const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

const QUANTITY = /^([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i))?$/

/** A Kubernetes quantity (`500m`, `16Gi`, `1e3`, 2) in its unit; `undefined` when it is none. Precise enough to compare. */
export function amountOf(written: string | number): number | undefined {
  if (typeof written === 'number') return written
  const match = QUANTITY.exec(written.trim())
  if (!match) return undefined
  const [, digits = '', exponent = '', suffix] = match
  return Number(`${digits}${exponent}`) * (suffix ? (FACTORS[suffix] ?? Number.NaN) : 1)
}

/** The same where a quantity must be one: CRDs check theirs. */
export function quantity(written: string | number): number {
  const value = amountOf(written)
  if (value !== undefined) return value
  throw new Failure('invalid', `"${written}" is not a quantity`, {
    remedy: 'Write a number with a suffix such as 500m, 2 or 16Gi.',
  })
}
