import { wishesOf } from './annotations.ts'
import type { Desired } from './place.ts'

/** Stands for the beginning of a wave among the keys of objects, of which none has a space in it. */
const beginningOfWave = (wave: number): string => `wave ${wave}`

/** In which waves the objects of a set are applied, where it has more than one. */
export interface Waves {
  /** By key of an object, those that cannot be applied included. Who is not in it is in wave 0. */
  readonly waves: ReadonlyMap<string, number>
  /** By key: what is there before it without a word, a namespace before its members say. */
  homesOf(key: string): readonly string[]
}

/**
 * Pure. What has to be healthy before an object of a later wave, and before that wave begins: so each object has one need more, and not one
 * for each object of the waves before. What others live in comes with the first of them, whatever its own wave is.
 */
export function needsOfWaves(
  set: ReadonlyMap<string, Desired>,
  elsewhere: ReadonlySet<string>,
  { waves, homesOf }: Waves,
): Map<string, readonly string[]> {
  const applied = [...set].filter(([, { object }]) => wishesOf(object).apply !== 'ignore').map(([key]) => key)
  const own = new Map([...applied, ...elsewhere].map((key) => [key, waves.get(key) ?? 0]))
  for (const key of applied) for (const home of homesOf(key)) lower(own, home, own.get(key) ?? 0)
  const needs = new Map<string, readonly string[]>()
  const inOrder = [...Map.groupBy(own.keys(), (key) => own.get(key) ?? 0)].sort(([a], [b]) => a - b)
  for (const [at, [wave, keys]] of inOrder.entries()) {
    const before = inOrder[at - 1]
    if (!before) continue
    const beginning = beginningOfWave(wave)
    needs.set(beginning, [...(at > 1 ? [beginningOfWave(before[0])] : []), ...before[1]])
    for (const key of keys) needs.set(key, [beginning])
  }
  return needs
}

function lower(waves: Map<string, number>, key: string, to: number): void {
  const now = waves.get(key)
  if (now !== undefined && to < now) waves.set(key, to)
}
