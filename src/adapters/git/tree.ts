import { Failure } from '../../std/index.ts'

/** A regular file of a commit. Links and submodules are left out: what they lead to is not part of the commit. */
export interface TreeFile {
  readonly path: string
  /** Name of the content. */
  readonly blob: string
  readonly size: number
}

const ENTRY = /^(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s
const REGULAR = /^100/

/** Reads `git ls-tree -r -z -l`. */
export function parseTree(output: string): TreeFile[] {
  if (output !== '' && !output.endsWith('\0')) throw damaged()
  const files: TreeFile[] = []
  for (const line of output.split('\0')) {
    if (line === '') continue
    const [, mode = '', type, blob = '', size, path = ''] = ENTRY.exec(line) ?? []
    if (type === 'blob' && REGULAR.test(mode)) files.push({ path, blob, size: Number(size) })
  }
  return files
}

const NEWLINE = 0x0a

/**
 * Reads `git cat-file --batch`: a line with the size, the content, a newline; in the order in which they were asked for.
 * Half an answer is refused, whatever cut it off: who acts on it would prune what merely had not arrived.
 */
export function parseBatch(output: Buffer, files: readonly TreeFile[]): Buffer[] {
  let at = 0
  const contents = files.map(({ size: wanted }) => {
    const end = output.indexOf(NEWLINE, at)
    const [, type, size] = output.toString('latin1', at, end).split(' ')
    const start = end + 1
    if (end < 0 || type !== 'blob' || Number(size) !== wanted || start + wanted >= output.length) throw damaged()
    at = start + wanted + 1
    return output.subarray(start, at - 1)
  })
  if (at !== output.length) throw damaged()
  return contents
}

const damaged = () => new Failure('internal', 'the mirror did not give what was asked for', { reason: 'MirrorDamaged' })
