import { type Clock, pause } from '../../std/index.ts'

/** Rung by whoever has news; several rings before somebody listens are one. */
export interface Bell {
  ring(): void
  /** Until it is rung, was rung since the last time, the time is over, or the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createBell(clock: Clock): Bell {
  let rung = new AbortController()
  return {
    ring: () => rung.abort(),
    async wait(milliseconds, signal) {
      await pause(clock, milliseconds, AbortSignal.any([signal, rung.signal]))
      rung = new AbortController()
    },
  }
}
