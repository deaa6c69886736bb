import { createTurnstile } from '../../std/index.ts'

/** Where one repository's work on the network waits for its turn. */
export interface Lane {
  pass<T>(work: () => Promise<T>): Promise<T>
}

export interface Lanes {
  /** For one poll. */
  lane(): Lane
  /** For work on what is here already: it never waits for a network. */
  pass<T>(work: () => Promise<T>): Promise<T>
  readonly waiting: number
}

/**
 * How many git processes run at once. Who did not answer last time, or never yet, goes through a gate of its own, half as wide:
 * any number of repositories that hang delay one another, and nobody else.
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
  const [proved, untried, local] = [gateOf(width), gateOf(Math.ceil(width / 2)), gateOf(width)]
  return {
    lane() {
      let gate = untried
      return {
        async pass(work) {
          try {
            const done = await gate(work)
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
