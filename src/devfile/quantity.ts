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

const QUANTITY = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i))?$/

/** A quantity in its unit (bytes, CPUs); `undefined` when it is none, or negative. */
export function bytesOf(written: string): number | undefined {
  const match = QUANTITY.exec(written)
  if (!match) return undefined
  const [, digits = '', exponent = '', suffix] = match
  return Number(`${digits}${exponent}`) * (suffix ? (FACTORS[suffix] ?? Number.NaN) : 1)
}
