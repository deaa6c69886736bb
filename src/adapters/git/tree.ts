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
  const files: TreeFile[] = []
  for (const line of output.split('\0')) {
    if (line === '') continue
    const [, mode = '', type, blob = '', size, path = ''] = ENTRY.exec(line) ?? []
    if (type === 'blob' && REGULAR.test(mode)) files.push({ path, blob, size: Number(size) })
  }
  return files
}

const NEWLINE = 0x0a

/** Reads `git cat-file --batch`: a line with the size, the content, a newline; in the order in which they were asked for. */
export function* parseBatch(output: Buffer): Generator<Buffer> {
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(NEWLINE, at)
    const [, type, size] = output.toString('latin1', at, end).split(' ')
    if (type !== 'blob' || size === undefined)
      throw new Failure('internal', 'Not a valid object name in the mirror', { reason: 'MirrorDamaged' })
    const start = end + 1
    at = start + Number(size) + 1
    yield output.subarray(start, at - 1)
  }
}
