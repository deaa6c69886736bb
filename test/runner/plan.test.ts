import { globSync } from 'node:fs'
import { equal, not, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { ALONE, processesOf } from './plan.ts'

describe('the plan of a run', (it) => {
  const files = globSync('test/**/*.test.ts').sort()

  it('has every file once', () => {
    equal(processesOf(files).flat().sort(), files)
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

  it('has real nodes one after the other, in one process that starts at once', () => {
    equal(
      processesOf(files)[1],
      files.filter((file) => file.startsWith('test/e2e/')),
    )
    equal(processesOf(['test/runner/plan.test.ts']), [['test/runner/plan.test.ts']])
  })

  it('lets small files share a process', () => {
    ok(processesOf(files).some((group) => group.length > 3 && group.includes('test/runner/plan.test.ts')))
  })
})
