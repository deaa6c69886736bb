import type { Mirror, TreeFile } from '../../adapters/git/index.ts'
import type { Listed, Snapshot } from '../ports.ts'
import { type Tree, treeOf } from '../tree.ts'
import { gather } from './gather.ts'
import type { Lane } from './lanes.ts'
import type { Patience } from './patience.ts'

export interface SnapshotTools {
  mirror: Mirror
  lane: Lane
  /** For work on what is here already. */
  pass: <T>(work: () => Promise<T>) => Promise<T>
  patience: Patience
  /** That of the program: a stream that hangs up must not take the files from the others. */
  signal: AbortSignal
  earlier: Listed | undefined
  onListed: (listed: Listed) => void
}

/** A commit whose files are fetched when the first stream wants them, and listed once for all that follow. */
export function createSnapshot(
  found: { commit: string; refName: string | undefined },
  { mirror, lane, pass, patience, signal, earlier, onListed }: SnapshotTools,
): Snapshot {
  const { commit } = found
  let listed: Promise<Tree<TreeFile>> | undefined
  let isFetched = false
  const list = async () => {
    await patience.try(commit, () => lane.pass(() => mirror.fetch(commit, signal)))
    const tree = treeOf(await pass(() => mirror.files(commit, signal)))
    isFetched = true
    onListed({ commit, tree })
    return tree
  }
  const read = gather<TreeFile>({ read: (files) => mirror.read(files, signal), pass })
  const forget = () => {
    listed = undefined
    isFetched = false
  }
  return {
    ...found,
    earlier: earlier?.commit === commit ? undefined : earlier,
    get isFetched() {
      return isFetched
    },
    tree() {
      if (!listed) {
        listed = list()
        // What failed once may succeed for the next who asks.
        listed.catch(forget)
      }
      return listed
    },
    async read(files, ended) {
      try {
        return await read(files, ended)
      } catch (thrown) {
        if (!ended.aborted) forget()
        throw thrown
      }
    },
  }
}
