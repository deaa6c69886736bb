import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { keepOutput, tryAgain } from './second-try.ts'

const summary = (passed: number) => `\n  Total:     2\n  Passed:    ${passed}\n  Skipped:   0\n  Duration:  1.00ms\n`
const passing = { output: summary(2), code: 0, ms: 1 }
const failing = { output: summary(1), code: 1, ms: 1 }
const failed = (...files: string[]) => files.map((file) => ({ file, execution: failing }))

describe('the second try', (it) => {
  it('counts a file that passes alone as passed, and calls it unstable', async () => {
    const { attempts, unstable } = await tryAgain(failed('a'), () => Promise.resolve(passing))
    assert.equal(attempts, [{ file: 'a', execution: passing }])
    assert.equal(unstable, ['a'])
  })
  it('lets a file that fails twice stay failed', async () => {
    const { attempts, unstable } = await tryAgain(failed('a', 'b'), (file) => Promise.resolve(file === 'a' ? failing : passing))
    assert.equal(
      attempts.map(({ execution }) => execution),
      [failing, passing],
    )
    assert.equal(unstable, ['b'])
  })
  it('runs one file at a time', async () => {
    let running = 0
    await tryAgain(failed('a', 'b', 'c'), async () => {
      running++
      assert.is(running, 1)
      await Promise.resolve()
      running--
      return passing
    })
  })
  it('runs nothing again where more than five files failed', async () => {
    const failures = failed('a', 'b', 'c', 'd', 'e', 'f')
    const result = await tryAgain(failures, () => Promise.reject(new Error('is not run')))
    assert.equal(result, { attempts: failures, unstable: [] })
  })
  it('keeps what the first attempt printed', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'berth-test-'))
    const path = await keepOutput(join(dir, 'results'), { file: 'test/a/b.test.ts', execution: failing })
    assert.is(path, join(dir, 'results', 'test.a.b.test.ts.log'))
    assert.is(await readFile(path, 'utf8'), failing.output)
    await rm(dir, { recursive: true })
  })
})
