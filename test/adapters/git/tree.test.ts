import { equal, is, throws } from 'uvu/assert'
import { parseBatch, parseTree } from '../../../src/adapters/git/tree.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const file = (path: string, size: number) => ({ path, blob: 'b', size })
const FILES = [file('a', 3), file('empty', 0), file('c', 5)]
const WHOLE = Buffer.from('b blob 3\nx\ny\nb blob 0\n\nb blob 5\n12345\n')

describe('contents from git', (it) => {
  it('are cut where git says that they end', () => {
    equal(parseBatch(WHOLE, FILES).map(String), ['x\ny', '', '12345'])
  })

  it('are taken whole or not at all, wherever the answer breaks off', () => {
    for (let length = 0; length < WHOLE.length; length++)
      throws(() => parseBatch(WHOLE.subarray(0, length), FILES), /did not give what was asked for/, `${length} bytes`)
  })

  it('are refused when there are more of them, or others', () => {
    throws(() => parseBatch(WHOLE, FILES.slice(0, 2)))
    throws(() => parseBatch(WHOLE, [file('a', 3), file('empty', 0), file('c', 4)]))
    throws(() => parseBatch(Buffer.from('b missing\n'), [file('a', 3)]))
    throws(() => parseBatch(Buffer.from('b tree 3\nxyz\n'), [file('a', 3)]))
  })
})

describe('the tree of a commit', (it) => {
  it('is its files, and tells of links and submodules what they are', async () => {
    const lines = ['100644 blob a 1\tx', '100755 blob b 2\td/run', '120000 blob c 3\tlink', '160000 commit d -\tsub', '']
    equal(
      (await parseTree(lines.join('\0'))).map(({ path, size, link }) => [path, size, link]),
      [
        ['x', 1, undefined],
        ['d/run', 2, undefined],
        ['link', 0, 'symbolic link'],
        ['sub', 0, 'submodule'],
      ],
    )
    is((await parseTree('')).length, 0)
    const half = await failureOf(() => parseTree('100644 blob a 1\tx\x00100644 blob b 1\ty'))
    is(half.reason, 'MirrorDamaged')
  })
})
