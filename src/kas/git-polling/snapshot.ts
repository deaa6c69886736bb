import type { CommitLine, Mirror, TreeFile } from '../../adapters/git/index.ts'
import { Failure, isFailure, type LRUCache } from '../../std/index.ts'
import type { CommitSnapshot, Listed } from '../ports/ports.ts'
import { type FileTree, treeOf } from '../projects/tree.ts'
import type { FetchBackoff } from './fetch-backoff.ts'
import { gather } from './gather.ts'
import type { Lane, Lanes } from './lanes.ts'

/** Of the commits that were asked for last, by repository and commit. */
export type Trees = LRUCache<string, FileTree<TreeFile>>

export interface SnapshotTools {
  /** Names the repository among all. */
  repository: string
  trees: Trees
  mirror: Pick<Mirror, 'fetch' | 'files' | 'read' | 'line'>
  lane: Lane
  /** For work on what is here already, on behalf of the namespace. */
  lanes: Lanes
  namespace: string
  patience: FetchBackoff
  /** That of the program: a stream that hangs up must not take the files from the others. */
  signal: AbortSignal
  /** The commit that was listed before. */
  earlier: string | undefined
  onListed: (commit: string) => void
  /** Told when it could not be fetched, each time that it was tried. */
  onFailed: (commit: string, failure: Failure) => void
}

/** A commit whose files are fetched when the first stream wants them, and listed once for all that come while the list is remembered. */
export function createSnapshot(
  { commit, refName, signer }: { commit: string; refName: string | undefined; signer?: string | undefined },
  { repository, trees, mirror, lane, lanes, namespace, patience, signal, earlier, onListed, onFailed }: SnapshotTools,
): CommitSnapshot {
  const nameOf = (one: string) => `${one} ${repository}`
  let listing: Promise<FileTree<TreeFile>> | undefined
  let isFetched = false
  const fetch = async () => {
    try {
      await lane.pass(() => mirror.fetch(commit, signal))
    } catch (thrown) {
      onFailed(commit, Failure.from(thrown))
      throw thrown
    }
  }
  const list = async () => {
    await patience.try(commit, fetch)
    const tree = treeOf(await lanes.list(namespace, () => mirror.files(commit, signal)))
    trees.set(nameOf(commit), tree)
    isFetched = true
    onListed(commit)
    return tree
  }
  const treeNow = async () => {
    const known = isFetched ? trees.get(nameOf(commit)) : undefined
    if (known) return known
    // What failed once may succeed for the next who asks.
    listing ??= list().finally(() => {
      listing = undefined
    })
    return listing
  }
  let line: Promise<CommitLine | undefined> | undefined
  // The files are there, and what is wrong with the mirror shows when they are read.
  const unreadable = (thrown: unknown): undefined => {
    if (!isFailure(thrown)) throw thrown
  }
  const read = gather<TreeFile>({
    read: (files) => mirror.read(files, signal),
    pass: (work) => lanes.pass(namespace, work),
  })
  return {
    commit,
    refName,
    signer,
    get earlier(): Listed | undefined {
      if (earlier === undefined || earlier === commit) return undefined
      const tree = trees.get(nameOf(earlier))
      return tree && { commit: earlier, tree }
    },
    get isFetched() {
      return isFetched
    },
    tree: treeNow,
    async line() {
      await treeNow()
      line ??= lanes.pass(namespace, () => mirror.line(commit, signal)).catch(unreadable)
      return line
    },
    async read(files, ended) {
      try {
        return await read(files, ended)
      } catch (thrown) {
        if (!ended.aborted) isFetched = false
        throw thrown
      }
    },
  }
}
