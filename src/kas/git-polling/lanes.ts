import { createTurnstile } from '../../std/index.ts'

/** Where one repository's work on the network waits for its turn. */
export interface Lane {
  pass<T>(work: () => Promise<T>): Promise<T>
}

export interface Lanes {
  /** For one poll of that repository. */
  lane(repository: string): Lane
  /** For work on what is here already: it never waits for a network. */
  pass<T>(work: () => Promise<T>): Promise<T>
  readonly waiting: number
}

const PLACES_OF_ONE = 2

/**
 * How many git processes run at once. Who did not answer last time, or never yet, goes through a gate of its own, half as wide:
 * any number of repositories that hang delay one another, and nobody else. However many refs of one are followed, it takes two
 * places: its fetches wait for one another anyway.
 */
export function createLanes(width: number): Lanes {
  let waiting = 0
  const gateOf = (places: number) => {
    const enter = createTurnstile(places)
    return <T>(work: () => Promise<T>): Promise<T> => {
      waiting++
      return enter(() => {
        waiting--
        return work()
      })
    }
  }
  const queues = createQueues(PLACES_OF_ONE)
  const [proved, untried, local] = [gateOf(width), gateOf(Math.ceil(width / 2)), gateOf(width)]
  return {
    lane(repository) {
      let gate = untried
      return {
        async pass(work) {
          try {
            const done = await queues.pass(repository, () => gate(work))
            gate = proved
            return done
          } catch (thrown) {
            gate = untried
            throw thrown
          }
        },
      }
    },
    pass: local,
    get waiting() {
      return waiting
    },
  }
}

/** A turnstile for each key, while somebody is in it. */
function createQueues(width: number) {
  const queues = new Map<string, { enter: ReturnType<typeof createTurnstile>; users: number }>()
  return {
    async pass<T>(key: string, work: () => Promise<T>): Promise<T> {
      const queue = queues.get(key) ?? { enter: createTurnstile(width), users: 0 }
      queues.set(key, queue)
      queue.users++
      try {
        return await queue.enter(work)
      } finally {
        if (--queue.users === 0) queues.delete(key)
      }
    },
  }
}
