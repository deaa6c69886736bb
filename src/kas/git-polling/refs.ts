import { createHash } from 'node:crypto'
import type { TreeFile } from '../../adapters/git/index.ts'
import type { CommitSnapshot } from '../ports/ports.ts'
import { treeOf } from '../projects/tree.ts'

/** Refs as if they were files: by their names, each with the id of its commit in it. Its commit is a digest of them all. */
export function snapshotOfRefs(refs: ReadonlyMap<string, string>): CommitSnapshot {
  const files = [...refs].map(([path, commit]): TreeFile => ({ path, blob: commit, size: commit.length }))
  const hash = createHash('sha256')
  for (const { path, blob } of files) hash.update(`${path}\0${blob}\0`)
  const tree = treeOf(files)
  return {
    commit: hash.digest('hex'),
    refName: undefined,
    isFetched: true,
    earlier: undefined,
    tree: async () => tree,
    read: async (wanted) => wanted.map(({ blob }) => Buffer.from(blob)),
    line: async () => undefined,
  }
}
