import type { WorkspaceStatus } from '../../../api/index.ts'
import { type Clock, hours, minutes, seconds } from '../../../std/index.ts'

/** Everything of a workspace is compared with its target this often, also what is not watched. */
const FULL = hours(1)
/** What is amiss may be why it fails. */
const FULL_OF_FAILED = minutes(5)
/** What was seen to change is compared no more often: somebody may set it back again and again. */
const CALM = seconds(10)

/** How long it is enough to look at what is watched of a workspace in this state. */
export const comparedFor = (state: WorkspaceStatus['actualState']): number => (state === 'Failed' ? FULL_OF_FAILED : FULL)

interface Comparison {
  at: number
  /** Of the class of the workspace. */
  generation: number | undefined
  /** How many changes were told by then. */
  known: number
}

interface Compared {
  last?: Comparison
  /** How many changes were told so far. */
  told: number
}

export type Comparisons = ReturnType<typeof createComparisons>

/** Remembers of each workspace, by UID, when everything was last compared with its target, and whether something changed since. */
export function createComparisons(clock: Clock) {
  const all = new Map<string, Compared>()
  const hasDrifted = ({ last, told }: Compared): boolean => last !== undefined && told > last.known
  return {
    /**
     * Begins to compare; call the answer when all is as it should be. What changes meanwhile may have been looked at before, and is
     * compared again: what is being applied is mostly why, and then there is nothing to write.
     */
    begin(uid: string, generation: number | undefined): () => void {
      const compared = all.get(uid) ?? { told: 0 }
      all.set(uid, compared)
      const known = compared.told
      return () => {
        compared.last = { at: clock.now(), generation, known }
      }
    },
    /** Something beside its Deployments was removed or written. */
    noteDrift(uid: string): void {
      const compared = all.get(uid)
      if (compared) compared.told++
    },
    /** True where all was compared not long ago, under the class as it is. */
    isRecent(uid: string, generation: number | undefined, state: WorkspaceStatus['actualState']): boolean {
      const compared = all.get(uid)
      if (!compared?.last || compared.last.generation !== generation) return false
      return clock.now() - compared.last.at < (hasDrifted(compared) ? CALM : comparedFor(state))
    },
    /** When it is to be compared because something changed, if so. */
    dueAt(uid: string): number | undefined {
      const compared = all.get(uid)
      return compared?.last && hasDrifted(compared) ? compared.last.at + CALM : undefined
    },
    delete: (uid: string): void => void all.delete(uid),
  }
}
