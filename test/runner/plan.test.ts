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

  it('has real nodes one after the other, from the beginning', () => {
    const groups = processesOf(files)
    const onNodes = groups.findIndex((group) => group.includes('test/e2e/node.test.ts'))
    equal(
      groups[onNodes],
      files.filter((file) => file.startsWith('test/e2e/')),
    )
    ok(onNodes < 5)
    ok(!processesOf(['test/runner/plan.test.ts']).some((group) => group.length === 0))
  })

  it('lets small files share a process', () => {
    ok(processesOf(files).some((group) => group.length > 3 && group.includes('test/runner/plan.test.ts')))
  })
})
