export type Dice = (sides: number) => number

/** Gives whole numbers in [0, sides), the same for the same seed, so that what is found once is found again (mulberry32). */
export function dice(seed: number): Dice {
  let state = seed >>> 0
  return (sides) => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * sides)
  }
}

/** The seed of the run, which its first line names. */
export const runSeed = Number(process.env.TEST_SEED ?? 1)
