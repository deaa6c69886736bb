import { createTurnstile } from '../../std/index.ts'

/** One repository's work on the network waits for its turn here. */
export interface Lane {
  pass<T>(work: () => Promise<T>): Promise<T>
}

const PLACES_OF_ONE = 2
/** While it is read, each may take 150 MiB. */
const LISTS_OF_ONE = 2

export type Lanes = ReturnType<typeof createLanes>

/**
 * How many git processes run at once. Who did not answer last time, or never yet, goes through a gate of its own, half as wide:
 * any number of repositories that hang delay one another, and nobody else. However many refs of one are followed, it takes two
 * places: its fetches wait for one another anyway. Nor does one namespace take all places of a gate, however many repositories
 * it has; for the places the namespaces take turns.
 */
export function createLanes(width: number) {
  const gateOf = (places: number) => createTurnstile({ width: places, each: Math.max(places - 1, 1) })
  const lists = createTurnstile({ each: LISTS_OF_ONE })
  const repositories = createTurnstile({ each: PLACES_OF_ONE })
  const [proved, untried, local] = [gateOf(width), gateOf(Math.ceil(width / 2)), gateOf(width)]
  return {
    /** For one poll of that repository, which a project of that namespace is. */
    lane(repository: string, namespace: string): Lane {
      let gate = untried
      return {
        async pass(work) {
          try {
            const done = await repositories.pass(repository, () => gate.pass(namespace, work))
            gate = proved
            return done
          } catch (thrown) {
            gate = untried
            throw thrown
          }
        },
      }
    },
    /** For work on what is here already: it never waits for a network. */
    pass: <T>(namespace: string, work: () => Promise<T>): Promise<T> => local.pass(namespace, work),
    /** The same for lists of files, which may be long. */
    list: <T>(namespace: string, work: () => Promise<T>): Promise<T> => lists.pass(namespace, () => local.pass(namespace, work)),
    get waiting() {
      return proved.waiting + untried.waiting + local.waiting + lists.waiting
    },
  }
}
