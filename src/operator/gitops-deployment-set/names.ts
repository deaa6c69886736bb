import { Failure, matchesWildcard } from '../../std/index.ts'
import { branchOf, isAskedFor, slugOf } from '../repository-names/index.ts'
import { type Element, MOST_ELEMENTS, type Simple } from './element.ts'

type Branches = NonNullable<Simple['branches']>
type Directories = NonNullable<Simple['directories']>

/** The files that tell of the directories. */
export function globOf({ pattern }: Directories): string {
  const parts = pattern.split('/')
  const at = parts.findIndex((part) => part.includes('*'))
  const folder = at < 0 ? parts : parts.slice(0, at)
  return [...folder, '**'].join('/')
}

export function branchElements(refs: readonly string[], generator: Branches, field: string): Element[] {
  const branches = refs.map(branchOf).filter((branch) => isAskedFor(branch, generator))
  return few(branches, field).map((branch) => ({
    values: new Map([
      ['branch', branch],
      ['slug', slugOf(branch)],
    ]),
    from: `${field}: branch ${branch}`,
  }))
}

export function directoryElements(files: readonly string[], { pattern, except = [] }: Directories, field: string): Element[] {
  const depth = pattern.split('/').length
  // A file is no directory: the last part of its path does not count.
  const all = files.map((file) => file.split('/').slice(0, -1)).filter((parts) => parts.length >= depth)
  const paths = [...new Set(all.map((parts) => parts.slice(0, depth).join('/')))].sort()
  const chosen = paths.filter((path) => matchesPath(pattern, path) && !except.some((not) => matchesPath(not, path)))
  return few(chosen, field).map((path) => ({
    values: new Map([
      ['path', path],
      ['directory', path.slice(path.lastIndexOf('/') + 1)],
      ['slug', slugOf(path)],
    ]),
    from: `${field}: directory ${path}`,
  }))
}

/** Part by part: a star stands for no slash. */
function matchesPath(pattern: string, path: string): boolean {
  const [wanted, parts] = [pattern.split('/'), path.split('/')]
  return wanted.length === parts.length && wanted.every((part, at) => matchesWildcard(part, parts[at] ?? ''))
}

/** More are never made: whoever pushes thousands of branches is told, before anything is made of them. */
function few(names: string[], field: string): string[] {
  if (names.length > MOST_ELEMENTS)
    throw new Failure('invalid', `${field} gives ${names.length} elements; at most ${MOST_ELEMENTS} are made`, {
      reason: 'TooManyElements',
      remedy: 'Choose fewer by pattern and except.',
    })
  return names
}
