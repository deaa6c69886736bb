import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { execute } from '../runner/execute.ts'
import { verdictOfTests } from '../runner/verdict.ts'
import { steppedClock } from './clock.ts'
import { describe } from './suite.ts'
import { eventually } from './verbs.ts'

const BAD: Record<string, string> = {
  'a before hook that throws': "it.before(() => { throw new Error('no') }); it('is', () => undefined)",
  'an afterEach hook that throws': "it.afterEach(() => { throw new Error('no') }); it('is', () => undefined)",
  'an after hook that throws': "it.after(() => { throw new Error('no') }); it('is', () => undefined)",
  'a test that throws null': "it('is', () => { throw null })",
  'two tests of one title': "it('is', () => undefined); it('is', () => undefined)",
  'a title and no test': '',
}

describe('a suite', (it) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-suite-'))
  it.after(() => rmSync(folder, { recursive: true }))
  const verdictOf = async (body: string) => {
    const file = join(folder, 'bad.test.ts')
    writeFileSync(file, `import { describe } from '${import.meta.dirname}/suite.ts'\ndescribe('x', (it) => { ${body} })\n`)
    const command = { title: 'x', program: process.execPath, parameters: [file] }
    return verdictOfTests(await execute(command, new AbortController().signal))
  }
  for (const [what, body] of Object.entries(BAD)) {
    it(`does not pass with ${what}`, async () => assert.ok((await verdictOf(body)).failed > 0))
  }
  it('passes with tests that pass', async () => {
    assert.equal(await verdictOf("it('is', () => undefined)"), { passed: 1, failed: 0 })
  })
})

describe('a stepped clock', (it) => {
  it('runs what falls due on the way, in order, and stands still then', async () => {
    const clock = steppedClock(0)
    const seen: number[] = []
    clock.after(20, () => void seen.push(clock.now()))
    clock.after(10, () => {
      seen.push(clock.now())
      clock.after(5, () => void seen.push(clock.now()))
    })
    clock.after(30, () => void seen.push(clock.now()))
    await clock.step(25)
    assert.equal(seen, [10, 15, 20])
    assert.is(clock.now(), 25)
    assert.is(clock.waiting(), 1)
  })
  it('forgets what was called off', async () => {
    const clock = steppedClock()
    const cancel = clock.after(1, () => assert.unreachable())
    cancel()
    await clock.step(5)
  })
})

describe('eventually', (it) => {
  it('gives the first answer that is one', async () => {
    let asked = 0
    assert.is(await eventually(() => (++asked < 3 ? undefined : asked)), 3)
  })
  it('takes nothing, null and false for no answer, and all else for one', async () => {
    for (const answer of [0, '']) {
      const answers = [undefined, null, false, answer]
      assert.is(await eventually(() => answers.shift()), answer)
    }
  })
  it('fails with what was seen last', async () => {
    const failure = await eventually(() => assert.is(1, 2), { within: 50 }).catch((thrown: unknown) => thrown)
    assert.instance(failure, assert.Assertion)
    assert.match(String(failure), /not so within 0.05 s; at the end: Expected values to be strictly equal/)
  })
})
