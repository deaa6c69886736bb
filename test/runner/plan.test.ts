import { globSync } from 'node:fs'
import { equal, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { ALONE, processesOf } from './plan.ts'

describe('the plan of a run', (it) => {
  const files = globSync('test/**/*.test.ts').sort()

  it('has every file once', () => {
    equal(processesOf(files).flat().sort(), files)
  })

  it('begins with what is alone in its process', () => {
    const begun = processesOf(files).slice(0, 2 * ALONE.length)
    for (const file of ALONE)
      ok(
        begun.some((group) => group.length === 1 && group[0] === file),
        file,
      )
  })

  it('lets small files share a process', () => {
    ok(processesOf(files).some((group) => group.length > 3 && group.includes('test/runner/plan.test.ts')))
  })
})
