import type { Revision } from '../../adapters/git/index.ts'
import { matchesWildcard } from '../../std/index.ts'

/** The ref that a revision meant at the last poll, if that is known. */
export type MeantRef = string | undefined

/** True when a push to that ref can change what a revision means. Names are compared as a whole: none is ever a pattern. */
export function concerns(revision: Revision, meant: MeantRef, pushed: string): boolean {
  if (revision.kind === 'default') return meant === undefined || meant === pushed
  const { kind, name } = revision
  const [branch, tag] = [`refs/heads/${name}`, `refs/tags/${name}`]
  switch (kind) {
    case 'branch':
      return pushed === branch
    case 'tag':
      return pushed === tag
    case 'short':
      return pushed === branch || pushed === tag
    case 'full':
      return pushed === name
    case 'semver':
      return pushed.startsWith('refs/tags/')
    case 'refs':
      return matchesWildcard(name, pushed)
    case 'chart':
    case 'commit':
      // It may have come with any of them.
      return true
  }
}
