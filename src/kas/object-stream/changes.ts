import type { TreeFile } from '../../adapters/git/index.ts'
import { isFailure } from '../../std/index.ts'
import type { Listed } from '../ports/ports.ts'
import type { StreamRequest } from './request.ts'
import type { Choice, Choose, Selection } from './select.ts'

/** The difference between two commits, for a caller that has the files of the earlier one. */
export interface Changes {
  files: TreeFile[]
  removed: string[]
}

/**
 * `undefined` when all files have to be sent: the caller did not ask for less, has another commit than the one that was listed
 * before, or has, by its digest, not what we would have sent it.
 */
export function changesSince(
  earlier: Listed | undefined,
  { changes, commitId, digest, selection }: StreamRequest,
  files: readonly TreeFile[],
  choose: Choose,
): Changes | undefined {
  if (!changes || !earlier || earlier.commit !== commitId) return undefined
  const before = chosen(earlier, selection, choose)
  if (!before || before.digest !== digest) return undefined
  const gone = new Map(before.files.map((file) => [file.path, file]))
  const changed = files.filter((file) => {
    const old = gone.get(file.path)
    gone.delete(file.path)
    return old?.blob !== file.blob || old.link !== file.link
  })
  return { files: changed, removed: [...gone.keys()] }
}

/** A mistake in an earlier commit is nobody's trouble any more. */
function chosen({ tree }: Listed, selection: Selection, choose: Choose): Choice | undefined {
  try {
    return choose(tree, selection)
  } catch (thrown) {
    if (isFailure(thrown, 'invalid')) return undefined
    throw thrown
  }
}
