import { dice, runSeed } from './dice.ts'

/** Whether no case is left out: `npm run test:exhaustive`. */
const isExhaustive = process.env.TEST_EXHAUSTIVE === 'true'

/**
 * All cases of a sweep in `npm run test:exhaustive`; else the first, the last and `some` between them, which the seed of the run
 * chooses. In their order.
 */
export function sampleOf<T>(cases: readonly T[], some = 2): T[] {
  if (isExhaustive || cases.length <= some + 2) return [...cases]
  const roll = dice(runSeed + cases.length)
  const inner = cases.slice(1, -1)
  const chosen = new Set(Array.from({ length: some }, () => inner.splice(roll(inner.length), 1)[0]))
  return cases.filter((each, index) => index === 0 || index === cases.length - 1 || chosen.has(each))
}

/** How often something random is tried. */
export const rounds = ({ sample, whole }: { sample: number; whole: number }): number => (isExhaustive ? whole : sample)
