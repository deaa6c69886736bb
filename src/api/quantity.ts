import { Failure } from '../std/index.ts'

const SUFFIX: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
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

/** A Kubernetes quantity (`500m`, `16Gi`, `1e3`, 2) as a number. Precise enough to compare, not to add up money. */
export function quantity(written: string | number): number {
  if (typeof written === 'number') return written
  const [, digits, exponent = '', suffix = ''] =
    /^([+-]?[0-9.]+)([eE][+-]?[0-9]+)?([numkMGTPE]|[KMGTPE]i)?$/.exec(written.trim()) ?? []
  const factor = SUFFIX[suffix]
  const value = Number(`${digits}${exponent}`)
  if (digits === undefined || factor === undefined || Number.isNaN(value))
    throw new Failure('invalid', `"${written}" is not a quantity`, {
      remedy: 'Write a number with a suffix such as 500m, 2 or 16Gi.',
    })
  return value * factor
}
