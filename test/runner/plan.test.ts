import { globSync } from 'node:fs'
import { equal, not, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { ALONE, onNodesOf, processesOf } from './plan.ts'

describe('the plan of a run', (it) => {
  const files = globSync('test/**/*.test.ts').sort()
  const isOnNode = (file: string) => file.startsWith('test/e2e/')

  it('has every file once', () => {
    equal([...processesOf(files).flat(), ...onNodesOf(files)].sort(), files)
  })

  it('begins with the longest that is alone, and does not end with one', () => {
    const groups = processesOf(files)
    const alone = groups.filter(([file]) => file !== undefined && ALONE.includes(file))
    equal(
      alone,
      ALONE.map((file) => [file]),
    )
    equal(groups[0], alone[0])
    not.equal(groups.at(-1), alone.at(-1))
  })

  it('begins with the longest of those on real nodes, and leaves none of them out', () => {
    equal(onNodesOf(files).toSorted(), files.filter(isOnNode))
    equal(onNodesOf(files)[0], 'test/e2e/as-pods.test.ts')
    equal(onNodesOf(['test/e2e/up.test.ts', 'test/e2e/later.test.ts']), ['test/e2e/up.test.ts', 'test/e2e/later.test.ts'])
    equal(onNodesOf(['test/runner/plan.test.ts']), [])
  })

  it('lets small files share a process', () => {
    ok(processesOf(files).some((group) => group.length > 3 && group.includes('test/runner/plan.test.ts')))
  })
})
