import { hours, pause, systemClock } from '../std/index.ts'

/** Resolves when the signal aborts. A listener alone would not keep Node running: the timer does. */
export async function ended(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await pause(systemClock, hours(1), signal)
}
