import { type Clock, pause } from '../../std/index.ts'

/** Several rings before somebody waits are one. */
export function createBell(clock: Clock) {
  let rung = new AbortController()
  return {
    ring: (): void => rung.abort(),
    /** Until it is rung, was rung since the last time, the time is over, or the signal aborts. */
    async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
      await pause(clock, milliseconds, AbortSignal.any([signal, rung.signal]))
      rung = new AbortController()
    },
  }
}
