import { createHash } from 'node:crypto'
import { Failure, matchesWildcard } from '../../std/index.ts'
import { type Element, MOST_ELEMENTS, type Simple } from './element.ts'

type Branches = NonNullable<Simple['branches']>
type Directories = NonNullable<Simple['directories']>

const HEADS = 'refs/heads/'

/** The pattern of whole names of refs. */
export const refsOf = ({ pattern = '*' }: Branches): string => `${HEADS}${pattern}`

/** The files that tell of the directories. */
export function globOf({ pattern }: Directories): string {
  const parts = pattern.split('/')
  const at = parts.findIndex((part) => part.includes('*'))
  const folder = at < 0 ? parts : parts.slice(0, at)
  return [...folder, '**'].join('/')
}

export function branchElements(refs: readonly string[], { pattern = '*', except = [] }: Branches, field: string): Element[] {
  const branches = refs
    .map((ref) => ref.slice(HEADS.length))
    .filter((branch) => matchesWildcard(pattern, branch) && !except.some((not) => matchesWildcard(not, branch)))
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

/** Characters of a slug without its digest. */
const LONGEST_SLUG = 30

/** Of a digest: nobody finds two names that have the same. */
const DIGITS = 20

/** Of the letters that names of objects have. What is not written so anyway, or looks like it, ends with a digest: no two names have one slug. */
export function slugOf(name: string): string {
  const plain = trimmed(
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, LONGEST_SLUG),
  )
  if (plain === name && !/-[0-9a-f]{20}$/.test(name)) return plain
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGITS)
  return plain === '' ? digest : `${plain}-${digest}`
}

const trimmed = (text: string): string => text.slice(text.startsWith('-') ? 1 : 0, text.endsWith('-') ? -1 : undefined)
