import { type Clock, createBuckets, type Rate } from '../../std/index.ts'

/** When polls may look at their Git servers. */
export interface PollPace {
  /** Stands in the lines of these namespaces. Who is urgent, because somebody waits for the look, comes before those who are not. */
  stand(namespaces: Iterable<string>, isUrgent: boolean): PollTurn
}

export interface PollTurn {
  /** Resolves when it is the turn of one of the namespaces, at once where there is none, and when the lines are left. */
  readonly over: Promise<void>
  /** In one more line, with the places in the others kept. */
  join(namespace: string): void
  leave(): void
}

/**
 * Looks for one namespace. Each starts two processes, a few hundredths of a second of a processor, and lanes bound only how many run at
 * once: whoever has hundreds of repositories looked at each second would have them run all the time.
 */
const LOOKS: Rate = { burst: 1000, perSecond: 5 }

interface Line {
  urgent: Set<() => void>
  others: Set<() => void>
}

const firstOf = <T>(set: ReadonlySet<T> | undefined): T | undefined => set?.values().next().value

export function createPace(clock: Clock): PollPace {
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
  const lineOf = (namespace: string): Line => {
    const known = lines.get(namespace)
    if (known) return known
    const line: Line = { urgent: new Set(), others: new Set() }
    lines.set(namespace, line)
    clock.after(looks.wait(namespace), () => serve(namespace))
    return line
  }
  return {
    stand(namespaces, isUrgent) {
      const { promise: over, resolve } = Promise.withResolvers<void>()
      const places: Set<() => void>[] = []
      let isOver = false
      const leave = () => {
        isOver = true
        for (const place of places) place.delete(leave)
        resolve()
      }
      const join = (namespace: string) => {
        if (isOver) return
        // What several namespaces follow is looked at for the first that has a turn: nobody is delayed by those who follow it as well.
        if (!lines.has(namespace) && looks.take(namespace) === 0) return leave()
        const line = lineOf(namespace)
        const place = isUrgent ? line.urgent : line.others
        place.add(leave)
        places.push(place)
      }
      const all = [...namespaces]
      for (const namespace of all) join(namespace)
      if (all.length === 0) leave()
      return { over, join, leave }
    },
  }
}
