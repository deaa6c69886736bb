import { equal, is, ok } from 'uvu/assert'
import { digestOf, parseGlob, select } from '../../../src/kas/object-stream/index.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { defaultLimits } from './default-limits.ts'

const tree = (...paths: string[]) => paths.map((path) => ({ path, size: 10 }))
const chosen = (
  files: { path: string; size: number }[],
  globs: string[],
  { names = [], limits = {} }: { names?: string[]; limits?: object } = {},
) =>
  select(treeOf(files), { globs: globs.map((glob) => parseGlob(glob)), files: names }, { ...defaultLimits, ...limits }).map(
    ({ path }) => path,
  )

const reasonOf = (work: () => unknown): string | undefined => {
  try {
    work()
  } catch (thrown) {
    if (isFailure(thrown, 'invalid')) return thrown.reason
    throw thrown
  }
  return undefined
}

describe('object selection', (it) => {
  it('leaves out what lies in a folder that begins with a dot, and keeps files that do', () => {
    equal(chosen(tree('.x.yaml', 'a/.y.yaml', '.git/z.yaml', 'a/.b/c/z.yaml', 'b.yaml'), ['**']), [
      '.x.yaml',
      'a/.y.yaml',
      'b.yaml',
    ])
  })

  it('tells of links to whom asks for them: below the folder, and where the folder lies behind one', () => {
    const link = (path: string) => ({ path, size: 0, link: 'submodule' })
    const files = treeOf([...tree('app/a.yaml'), link('app/b.yaml'), link('base'), link('else')])
    const of = (glob: string, links: boolean) =>
      select(files, { globs: [parseGlob(glob)], files: [], links }, defaultLimits).map(({ path }) => path)
    equal(of('app/**', true), ['app/a.yaml', 'app/b.yaml'])
    equal(of('base/**', true), ['base'])
    equal(of('base/deep/*.yaml', true), ['base'])
    equal(of('base', true), ['base'])
    for (const glob of ['base/**', 'base']) equal(of(glob, false), [])
    equal(of('app/**', false), ['app/a.yaml'])
    is(
      reasonOf(() => select(files, { globs: [], files: ['app/b.yaml'], links: false }, defaultLimits)),
      'FileNotFound',
    )
  })

  it('changes the digest when a link takes the place of a file of the same content', () => {
    ok(digestOf([{ path: 'a', blob: '1' }]) !== digestOf([{ path: 'a', blob: '1', link: 'symbolic link' }]))
  })

  it('counts the files that lie under the folder, whether they match or not', () => {
    const files = tree('a/1.yaml', 'a/2.txt', 'a/3.txt', 'b/4.yaml')
    equal(chosen(files, ['a/*.yaml'], { limits: { files: 3 } }), ['a/1.yaml'])
    is(
      reasonOf(() => chosen(files, ['a/*.yaml'], { limits: { files: 2 } })),
      'TooManyFiles',
    )
  })

  it('does not count what a pattern without folders cannot reach', () => {
    equal(chosen(tree('x.yaml', 'a/1', 'a/2'), ['*.yaml'], { limits: { files: 1 } }), ['x.yaml'])
  })

  it('tells of two patterns for one file', () => {
    is(
      reasonOf(() => chosen(tree('a.yaml'), ['*.yaml', 'a.*'])),
      'PathVisitedTwice',
    )
  })

  it('takes named files once, after the patterns', () => {
    equal(chosen(tree('a.yaml', 'z.txt'), ['*.yaml'], { names: ['z.txt', 'a.yaml'] }), ['a.yaml', 'z.txt'])
    is(
      reasonOf(() => chosen(tree('a.yaml'), [], { names: ['b.yaml'] })),
      'FileNotFound',
    )
  })

  it('tells one file that is too large from too much in all', () => {
    is(
      reasonOf(() => chosen(tree('a', 'b'), ['**'], { limits: { fileBytes: 9 } })),
      'FileTooLarge',
    )
    is(
      reasonOf(() => chosen(tree('a', 'b'), ['**'], { limits: { totalBytes: 19 } })),
      'TooLarge',
    )
  })

  it('ends where a pattern takes too long for what there is', () => {
    const deep = tree(...Array.from({ length: 50 }, (_, at) => `${at}/${'a'.repeat(39)}`.concat(`/${'a'.repeat(39)}`.repeat(99))))
    const costly = `**/*${'a'.repeat(420)}b${'{a,b}'.repeat(7)}`
    is(
      reasonOf(() => chosen(deep, [costly])),
      'GlobTooCostly',
    )
    const usual = tree(...Array.from({ length: 50_000 }, (_, at) => `apps/shop-${at}/deploy/deployment.yaml`))
    is(chosen(usual, ['**/*.{yaml,yml,json}']).length, 50_000)
  })

  it('counts folders that it passes over', () => {
    const folders = treeOf(tree(...Array.from({ length: 50_000 }, (_, at) => `${at}/a`)))
    const globs = Array.from({ length: 10 }, (_, at) => parseGlob(`*${at}`))
    is(
      reasonOf(() => select(folders, { globs, files: [] }, defaultLimits)),
      'GlobTooCostly',
    )
  })

  it('costs what lies in the folder, and not what lies in the repository', () => {
    let looked = 0
    const files = Array.from({ length: 50_000 }, (_, at) => ({
      size: 1,
      get path() {
        looked++
        return `apps/${at % 500}/deploy/${at}.yaml`
      },
    }))
    const index = treeOf(files)
    const built = looked
    ok(built <= files.length * 2, `${built} looks to build it`)
    for (let app = 0; app < 500; app++)
      is(select(index, { globs: [parseGlob(`apps/${app}/**`)], files: [] }, defaultLimits).length, 100)
    ok(looked - built <= files.length * 10, `${looked - built} looks for all of 500 folders`)
  })
})

describe('the digest of files', (it) => {
  const file = (path: string, blob: string) => ({ path, blob })
  it('is the same for the same files, and another for each change', () => {
    const files = [file('a', '1'), file('b', '2')]
    is(digestOf(files), digestOf(files.map((one) => ({ ...one }))))
    const others = [
      [],
      [file('a', '1')],
      [file('a', '1'), file('b', '3')],
      [file('a', '1'), file('c', '2')],
      [file('a1', ''), file('b', '2')],
    ]
    const digests = new Set([files, ...others].map(digestOf))
    is(digests.size, others.length + 1)
  })
})
