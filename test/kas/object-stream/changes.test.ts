import { equal, is } from 'uvu/assert'
import type { TreeFile } from '../../../src/adapters/git/index.ts'
import { changesSince, createChoose, digestOf, parseGlob } from '../../../src/kas/object-stream/index.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { describe } from '../../support/suite.ts'
import { defaultLimits } from './default-limits.ts'

const file = (path: string, blob = '1'): TreeFile => ({ path, blob, size: 1 })
const link = (path: string, blob = '1'): TreeFile => ({ path, blob, size: 0, link: 'submodule' })
const selection = { globs: [parseGlob('app/**')], files: [], links: true }

/** What is sent to whom has the files of `before`, when the commit has those of `after`. */
function changes(before: TreeFile[], after: TreeFile[], given: { commitId?: string; changes?: boolean; digest?: string } = {}) {
  const choose = createChoose(defaultLimits)
  const wanted = {
    path: 'p',
    revision: { kind: 'default' as const },
    commitId: 'old',
    selection,
    digest: choose(treeOf(before), selection).digest,
    changes: true,
    about: false,
    ...given,
  }
  const { files } = choose(treeOf(after), selection)
  const found = changesSince({ commit: 'old', tree: treeOf(before) }, wanted, files, choose)
  return found && { sent: found.files.map(({ path }) => path), removed: found.removed }
}

describe('changes since a commit', (it) => {
  it('are the files that came, that changed, and that are gone, of those that are chosen', () => {
    const before = [file('app/a'), file('app/b'), file('app/c'), file('else/a'), file('else/b')]
    const after = [file('app/a'), file('app/b', '2'), file('app/d'), file('else/a', '2')]
    equal(changes(before, after), { sent: ['app/b', 'app/d'], removed: ['app/c'] })
  })

  it('are links that became files, and files that became links', () => {
    const before = [link('app/a'), file('app/b'), link('app/c')]
    const after = [file('app/a'), link('app/b'), link('app/c')]
    equal(changes(before, after), { sent: ['app/a', 'app/b'], removed: [] })
  })

  it('are none that can be told to whom has another commit, other files, or did not ask', () => {
    const [before, after] = [[file('app/a')], [file('app/a', '2')]]
    equal(changes(before, after), { sent: ['app/a'], removed: [] })
    is(changes(before, after, { commitId: 'older' }), undefined)
    is(changes(before, after, { digest: digestOf([file('app/a', '3')]) }), undefined)
    is(changes(before, after, { changes: false }), undefined)
  })

  it('are none that can be told when the earlier commit has too many files', () => {
    const choose = createChoose({ ...defaultLimits, files: 1 })
    const wanted = {
      path: 'p',
      revision: { kind: 'default' as const },
      commitId: 'old',
      selection,
      digest: '',
      changes: true,
      about: false,
    }
    const earlier = { commit: 'old', tree: treeOf([file('app/a'), file('app/b')]) }
    is(changesSince(earlier, wanted, [file('app/a')], choose), undefined)
  })

  it('are looked for once in a commit, for each choice', () => {
    const choose = createChoose(defaultLimits)
    const tree = treeOf([file('app/a'), file('app/b'), file('app/c/d')])
    const one = choose(tree, selection)
    is(choose(tree, { ...selection, globs: [parseGlob('app/**')] }), one)
    equal(choose(tree, { ...selection, globs: [parseGlob('app/c/*')] }).files, [file('app/c/d')])
    equal(choose(treeOf([file('app/a')]), selection).files, [file('app/a')])
    is(choose(tree, selection), one)
  })
})
