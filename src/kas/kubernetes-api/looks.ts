import { type Clock, createBuckets, createTurnstile, pause, type Rate } from '../../std/index.ts'

/** Milliseconds in which rights to reach the agents of one namespace are looked for. */
const LOOKING: Rate = { burst: 5000, perSecond: 100 }

/** Does a look in the turn of the namespace whose agent it is about. */
export type Looks = (namespace: string, look: () => Promise<void>) => Promise<void>

/**
 * Rights are looked for again when something changes on which they depend, by everybody who visits, through hundreds of projects of which the
 * API server is asked one after the other. So whoever has a role change ten times a second, beside visits of his own, pays with his own time:
 * what his agents' visitors may do is found out later, and nobody else waits.
 */
export function createLooks(clock: Clock): Looks {
  const rate = createBuckets(LOOKING, clock)
  const turns = createTurnstile({ each: 1 })
  return (namespace, look) =>
    turns.pass(namespace, async () => {
      for (let wait = rate.wait(namespace); wait > 0; wait = rate.wait(namespace)) await pause(clock, wait)
      const began = clock.now()
      await look()
      rate.spend(namespace, clock.now() - began)
      // Where everything is remembered, nothing of it waits: without this all others would, until the last of a thousand looks.
      await pause(clock, 0)
    })
}
