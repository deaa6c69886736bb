import { type Clock, createBuckets, type Rate } from '../../std/index.ts'

export interface Turn {
  /** Somebody waits for this look: it comes before those that are made each interval. */
  isUrgent: boolean
  /** Gives the place in the line up. */
  signal: AbortSignal
}

/** When polls may look at their Git servers. */
export interface Pace {
  /** Resolves when it is the turn of one of these namespaces, or when the signal aborts. A namespace without need takes no turn. */
  turn(namespaces: ReadonlySet<string>, turn: Turn): Promise<void>
}

/**
 * Looks for one namespace. Each starts two processes, a few hundredths of a second of a processor, and lanes bound only how many run at
 * once: whoever has hundreds of repositories looked at each second would have them run all the time.
 */
const LOOKS: Rate = { burst: 1000, perSecond: 10 }

interface Line {
  urgent: Set<() => void>
  others: Set<() => void>
}

const firstOf = <T>(set: ReadonlySet<T> | undefined): T | undefined => set?.values().next().value

export function createPace(clock: Clock): Pace {
  const looks = createBuckets(LOOKS, clock)
  const lines = new Map<string, Line>()

  const serve = (namespace: string) => {
    const line = lines.get(namespace)
    for (;;) {
      const next = firstOf(line?.urgent) ?? firstOf(line?.others)
      if (!next) return void lines.delete(namespace)
      const wait = looks.take(namespace)
      if (wait > 0) return void clock.after(wait, () => serve(namespace))
      next()
    }
  }
  const stand = (namespace: string, isUrgent: boolean, enter: () => void) => {
    const known = lines.get(namespace)
    const line = known ?? { urgent: new Set(), others: new Set() }
    const place = isUrgent ? line.urgent : line.others
    place.add(enter)
    if (!known) {
      lines.set(namespace, line)
      serve(namespace)
    }
    return () => place.delete(enter)
  }
  return {
    turn(namespaces, { isUrgent, signal }) {
      // What several namespaces follow is looked at for the first that has room: nobody is delayed by those who follow it as well.
      const isFree = (namespace: string) => !lines.has(namespace) && looks.take(namespace) === 0
      if (signal.aborted || namespaces.size === 0 || [...namespaces].some(isFree)) return Promise.resolve()
      return new Promise((resolve) => {
        const enter = () => {
          for (const leave of leaving) leave()
          signal.removeEventListener('abort', enter)
          resolve()
        }
        signal.addEventListener('abort', enter)
        const leaving = [...namespaces].map((namespace) => stand(namespace, isUrgent, enter))
      })
    },
  }
}
