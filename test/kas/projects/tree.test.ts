import { equal, is } from 'uvu/assert'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { describe } from '../../support/suite.ts'

const pathsOf = (files: readonly { path: string }[]): string[] => files.map(({ path }) => path)
const tree = (...paths: string[]) => treeOf(paths.map((path) => ({ path })))

describe('a tree of files', (it) => {
  const files = tree('a', 'a-b/x', 'a.yaml', 'a/b/c/d', 'a/b/e', 'a/f', 'a/g/h', 'a0/x', 'b/c', 'z')

  it('has what lies below a folder, and no folder whose name only begins so', () => {
    equal(pathsOf(files.below('a')), ['a/b/c/d', 'a/b/e', 'a/f', 'a/g/h'])
    equal(pathsOf(files.below('a/b')), ['a/b/c/d', 'a/b/e'])
    equal(pathsOf(files.below('a/b/c/d')), [])
    equal(pathsOf(files.below('nowhere')), [])
    is(files.below('').length, 10)
  })

  it('has what lies in a folder itself', () => {
    equal(pathsOf(files.in('')), ['a', 'a.yaml', 'z'])
    equal(pathsOf(files.in('a')), ['a/f'])
    equal(pathsOf(files.in('a/b')), ['a/b/e'])
    equal(pathsOf(files.in('a/b/c')), ['a/b/c/d'])
    equal(pathsOf(files.in('b/c')), [])
  })

  it('finds a file by its path', () => {
    is(files.file('a/b/e')?.path, 'a/b/e')
    is(files.file('a')?.path, 'a')
    for (const path of ['a/b', '', 'a/b/e/', 'zz']) is(files.file(path), undefined)
  })

  it('finds all, in whichever order their names are given', () => {
    // By their bytes, as Git sorts, the first of these comes last.
    const odd = tree('😀/a', '\u{ff5e}/b', 'b/x', 'a/y', '😀/c')
    equal(pathsOf(odd.below('😀')), ['😀/a', '😀/c'])
    equal(pathsOf(odd.in('\u{ff5e}')), ['\u{ff5e}/b'])
    equal(pathsOf(odd.below('')), ['a/y', 'b/x', '😀/a', '😀/c', '\u{ff5e}/b'])
  })

  it('costs no more for folders within folders', () => {
    const chain = 'a/'.repeat(2000)
    const before = process.memoryUsage().heapUsed
    const deep = treeOf(Array.from({ length: 16_000 }, (_, at) => ({ path: `${at}/${chain}x` })))
    is(deep.below(`77/${chain.slice(0, -1)}`).length, 1)
    is(deep.in('').length, 0)
    const mebibytes = (process.memoryUsage().heapUsed - before) / 2 ** 20
    is(mebibytes < 200, true, `${mebibytes} MiB`)
  })
})
