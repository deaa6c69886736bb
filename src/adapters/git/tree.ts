import { setImmediate as breathe } from 'node:timers/promises'
import { Failure } from '../../std/index.ts'

/** An entry that is in a commit as a name only: the thing it leads to is not part of the commit. */
type LinkKind = 'symbolic link' | 'submodule'

/** A file of a commit. */
export interface TreeFile {
  readonly path: string
  /** Name of the content. */
  readonly blob: string
  readonly size: number
  /** It is no regular file, and has no content that could be read. */
  readonly link?: LinkKind
  /** Of a file that lies with others in one: where it begins there. */
  readonly at?: number
}

/** Who wrote a commit, and the first line of its message: both as a stranger wrote them, but for their length. */
export interface CommitLine {
  readonly author: string
  readonly subject: string
}

/** More of a line is for nobody to read. */
const MOST_OF_LINE = 1024

/** Reads `git log -1 --format=%an%x00%s`. */
export function parseLine(output: string): CommitLine {
  const [author = '', subject = ''] = output.split('\0', 2)
  return { author: firstOf(author), subject: firstOf(subject.replace(/\n$/, '')) }
}

const firstOf = (text: string): string => text.slice(0, MOST_OF_LINE).toWellFormed()

const ENTRY = /^(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s
const REGULAR = /^100/
const LINKS: Readonly<Record<string, LinkKind>> = { '120000': 'symbolic link', '160000': 'submodule' }

/** So many lines are read in a few milliseconds; then others have their turn. */
const LINES = 10_000

/** Reads `git ls-tree -r -z -l`. */
export async function parseTree(output: string): Promise<TreeFile[]> {
  if (output !== '' && !output.endsWith('\0')) throw damaged()
  const files: TreeFile[] = []
  for (const [at, line] of output.split('\0').entries()) {
    if (line === '') continue
    if (at % LINES === LINES - 1) await breathe()
    const [, mode = '', type, blob = '', size, path = ''] = ENTRY.exec(line) ?? []
    const link = LINKS[mode]
    if (link) files.push({ path, blob, size: 0, link })
    else if (type === 'blob' && REGULAR.test(mode)) files.push({ path, blob, size: Number(size) })
  }
  return files
}

const NEWLINE = 0x0a

/**
 * Reads `git cat-file --batch`: a line with the size, the content, a newline; in the order in which they were asked for.
 * Half an answer is refused, whatever cut it off: who acts on it would prune what merely had not arrived.
 */
export function parseBatch(output: Buffer, objects: readonly { size: number }[], kind: 'blob' | 'commit' = 'blob'): Buffer[] {
  let at = 0
  const contents = objects.map(({ size: wanted }) => {
    const end = output.indexOf(NEWLINE, at)
    const [, type, size] = output.toString('latin1', at, end).split(' ')
    const start = end + 1
    if (end < 0 || type !== kind || Number(size) !== wanted || start + wanted >= output.length) throw damaged()
    at = start + wanted + 1
    return output.subarray(start, at - 1)
  })
  if (at !== output.length) throw damaged()
  return contents
}

/** Reads `git cat-file --batch-check`: the sizes of commits, in the order in which they were asked for. */
export function parseSizes(output: string, commits: readonly string[]): number[] {
  const lines = output.split('\n')
  return commits.map((commit, at) => {
    const [id, type, size] = lines[at]?.split(' ') ?? []
    if (id !== commit || type !== 'commit') throw damaged()
    return Number(size)
  })
}

const damaged = () => new Failure('internal', 'the mirror did not give what was asked for', { reason: 'MirrorDamaged' })
