import { type Clock, createBuckets, createTurnstile, pause, type Rate, seconds } from '../../std/index.ts'

/** Milliseconds in which rights are looked for again on which something has changed, for one payer. */
const LOOKING: Rate = { burst: 5000, perSecond: 100 }
/** Longer than that it only waits for a Git server. */
const MOST_OF_ONE = seconds(1)

/** Does a look in the turn of whoever pays for it: of whom the right is. */
export type Looks = (payer: string, look: () => Promise<void>) => Promise<void>

/**
 * Rights are looked for again when something changes on which they depend, by everybody who visits, through hundreds of projects of which the
 * API server is asked one after the other. So whoever has a role change ten times a second, beside visits of his own, pays with his own time:
 * what these may do is found out later, and nobody else waits.
 */
export function createLooks(clock: Clock): Looks {
  const rate = createBuckets(LOOKING, clock)
  const turns = createTurnstile({ each: 1 })
  return (payer, look) =>
    turns.pass(payer, async () => {
      for (let wait = rate.wait(payer); wait > 0; wait = rate.wait(payer)) await pause(clock, wait)
      const began = clock.now()
      await look()
      rate.spend(payer, Math.min(clock.now() - began, MOST_OF_ONE))
      // Where everything is remembered, nothing of it waits: without this all others would, until the last of a thousand looks.
      await pause(clock, 0)
    })
}
