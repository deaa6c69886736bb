import { cpus, loadavg, totalmem } from 'node:os'

/** One line of the report. */
export function print(title: string, figures: Record<string, number | string>): void {
  const cells = Object.entries(figures).map(([name, value]) => `${name} ${typeof value === 'string' ? value : shown(value)}`)
  process.stdout.write(`${title.padEnd(36)} ${cells.join('   ')}\n`)
}

const shown = (value: number): string =>
  Number.isInteger(value) ? String(value) : value < 10 ? value.toFixed(2) : value.toFixed(1)

export const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0

/** Half and nearly all of them, and the worst. Milliseconds. */
export const spreadOf = (values: readonly number[]): Record<string, number> => ({
  'p50 ms': quantile(values, 0.5),
  'p99 ms': quantile(values, 0.99),
  'max ms': Math.max(...values),
})

/** Where it was measured, and how much else went on there. */
export function machine(): string {
  const processors = cpus()
  const model = processors[0]?.model ?? 'unknown'
  return `${processors.length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, load ${load()}`
}

/** Of the last minute. */
export const load = (): string => loadavg()[0]?.toFixed(1) ?? ''

/** Seconds. */
export const since = (began: number): number => (performance.now() - began) / 1000
