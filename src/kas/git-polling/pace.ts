import { type Clock, createBuckets, type Rate } from '../../std/index.ts'

/** Counts a look, for followers who are in these namespaces, and tells how long the next one has to wait; milliseconds. */
export type Pace = (namespaces: ReadonlySet<string>) => number

/**
 * Looks at Git servers for one namespace. Each starts two processes, a few hundredths of a second of a processor: a hundred projects
 * are asked every twenty seconds, and who has more, or asks each second, has each asked less often. Lanes bound only how many run at once.
 */
const LOOKS: Rate = { burst: 100, perSecond: 5 }

/** What several namespaces follow is looked at for the one that waits the least: nobody is delayed by those who follow it as well. */
export function createPace(clock: Clock): Pace {
  const looks = createBuckets(LOOKS, clock)
  return (namespaces) => {
    const waits = [...namespaces].map((name) => ({ name, wait: looks.wait(name) }))
    const [least] = waits.sort((one, other) => one.wait - other.wait)
    if (!least) return 0
    looks.spend(least.name, 1)
    return least.wait
  }
}
