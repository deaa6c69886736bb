import * as assert from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { type Verdict, verdictOfCheck, verdictOfTests } from './verdict.ts'

const summary = (total: number, passed: number, skipped = 0) =>
  `\n  Total:     ${total}\n  Passed:    ${passed}\n  Skipped:   ${skipped}\n  Duration:  1.00ms\n`

const CASES: { why: string; output: string; code?: number; cut?: string; expected: Partial<Verdict> }[] = [
  { why: 'what the runner counted is believed', output: summary(3, 3), code: 0, expected: { passed: 3, failed: 0 } },
  { why: 'a failed test fails the file', output: summary(3, 2), code: 1, expected: { passed: 2, failed: 1 } },
  { why: 'no test that is skipped counts as passed', output: summary(2, 2, 1), code: 0, expected: { passed: 2, failed: 0 } },
  { why: 'exit code 0 without a summary is no success', output: 'hello', code: 0, expected: { passed: 0, failed: 1 } },
  { why: 'a file without tests has not been tested', output: summary(0, 0), code: 0, expected: { passed: 0, failed: 1 } },
  { why: 'a crash after the tests is a failure', output: summary(2, 2), code: 7, expected: { passed: 2, failed: 1 } },
  {
    why: 'a file that hangs after its tests is a failure',
    output: summary(2, 2),
    cut: 'late',
    expected: { passed: 2, failed: 1 },
  },
  {
    why: 'a summary inside the output of a test is not the last word',
    output: summary(9, 9) + summary(2, 1),
    code: 1,
    expected: { passed: 1, failed: 1 },
  },
]

describe('the verdict over a test file', (it) => {
  for (const { why, output, code, cut, expected } of CASES) {
    it(why, () => {
      const { passed, failed } = verdictOfTests({ output, code, ms: 1, ...(cut ? { cut } : {}) })
      assert.equal({ passed, failed }, expected)
    })
  }
  it('tells what was left out, and why', () => {
    const output = `LEFT OUT there is no Go here\n${summary(1, 1, 2)}`
    const verdict = { passed: 1, failed: 0, leftOut: { count: 2, why: 'there is no Go here' } }
    assert.equal(verdictOfTests({ output, code: 0, ms: 1 }), verdict)
  })
  it('counts a check as one test', () => {
    assert.equal(verdictOfCheck({ output: '', code: 0, ms: 1 }), { passed: 1, failed: 0 })
    assert.equal(verdictOfCheck({ output: '', code: 2, ms: 1 }), { passed: 0, failed: 1 })
  })
})
