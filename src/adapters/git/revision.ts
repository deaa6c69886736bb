import { Failure } from '../../std/index.ts'

/** What is followed in a repository. */
export type Revision = { readonly kind: 'default' } | { readonly kind: 'branch' | 'tag' | 'commit'; readonly name: string }

/** Names as git-check-ref-format has them; what starts with `-` would read as an option. */
const REF_NAME = /^(?![-/.])(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[^\p{Cc}\s~^:?*[\\]+(?<![/.])$/u
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export function checkRevision(revision: Revision): Revision {
  if (revision.kind === 'default') return revision
  const { kind, name } = revision
  if (kind === 'commit' && !COMMIT.test(name)) {
    throw invalid(`commit ${JSON.stringify(name)} is not a full commit id`, 'Write all 40 (or 64) hexadecimal digits.')
  }
  if (kind !== 'commit' && (!REF_NAME.test(name) || name.length > 255))
    throw invalid(`${JSON.stringify(name)} cannot be the name of a ${kind}`, 'Correct the name.')
  return revision
}

const invalid = (message: string, remedy: string) => new Failure('invalid', message, { reason: 'RefInvalid', remedy })

export const describeRevision = (revision: Revision): string =>
  revision.kind === 'default' ? 'the default branch' : `${revision.kind} ${revision.name}`

/** The refs in which a revision may be found; the first that exists is meant. `^{}` is the commit behind an annotated tag. */
export function refsOf(revision: Revision): string[] {
  if (revision.kind === 'branch') return [`refs/heads/${revision.name}`]
  if (revision.kind === 'tag') return [`refs/tags/${revision.name}^{}`, `refs/tags/${revision.name}`]
  return ['HEAD', 'refs/heads/main', 'refs/heads/master']
}

export interface Refs {
  /** Ids by full name. */
  commits: Map<string, string>
  /** What HEAD and its like point to. */
  links: Map<string, string>
}

/** Reads `git ls-remote --symref`. The names given to it match the ends of refs too, so the maps are asked for the exact one. */
export function parseRefs(output: string): Refs {
  const refs: Refs = { commits: new Map(), links: new Map() }
  for (const line of output.split('\n')) {
    const [value = '', name] = line.split('\t')
    if (name === undefined) continue
    if (value.startsWith('ref: ')) refs.links.set(name, value.slice(5))
    else refs.commits.set(name, value)
  }
  return refs
}
