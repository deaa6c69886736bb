export interface Backoff {
  /** First wait, milliseconds. */
  base: number
  /** Longest wait, milliseconds. */
  max: number
  factor?: number
  /** Share of the wait that is random, 0 to 1. */
  jitter?: number
}

/** The wait before try number `attempt` (0 = the first repetition), milliseconds. */
export function waitOf({ base, max, factor = 2, jitter = 0.5 }: Backoff, attempt: number, random = Math.random): number {
  const whole = Math.min(max, base * factor ** Math.min(attempt, 64))
  return whole * (1 - jitter * random())
}
