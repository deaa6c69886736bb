import * as assert from 'uvu/assert'
import { createProgress } from '../../../src/engines/gitops/apply/progress.ts'
import type { Entry } from '../../../src/engines/gitops/index.ts'
import { Failure, seconds, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const entry = (name: string): Entry => ({ id: { group: '', kind: 'ConfigMap', name }, change: 'created' })

describe('the progress of a long apply', (it) => {
  let now = 0
  let took = 0
  let written: number[] = []
  const clock = { ...systemClock, now: () => now }
  const progress = () =>
    createProgress(clock, (done) => {
      written.push(done.length)
      now += took
      return Promise.resolve()
    })
  it.beforeEach(() => {
    now = 0
    took = 0
    written = []
  })
  const go = async (of: ReturnType<typeof progress>, count: number, each: number) => {
    for (let n = 0; n < count; n++) {
      now += each
      of.note(entry(`${n}`))
      await Promise.resolve()
      await Promise.resolve()
      await Promise.resolve()
    }
  }

  it('is not written down for what is done in a moment', async () => {
    const of = progress()
    await of.during(() => go(of, 100, 10))
    assert.equal(written, [])
  })

  it('is written down every five seconds', async () => {
    const of = progress()
    await of.during(() => go(of, 200, 100))
    assert.equal(written, [50, 100, 150, 200])
  })

  it('costs a twentieth of the time, however slow it is to write', async () => {
    took = seconds(2)
    const of = progress()
    await of.during(() => go(of, 1000, 100))
    assert.ok(written.length <= 3, `${written}`)
  })

  it('is written down when the work breaks off', async () => {
    const of = progress()
    const work = async () => {
      await go(of, 7, 10)
      throw new Failure('timeout', 'too late')
    }
    assert.is(await of.during(work).catch((failure: Error) => failure.message), 'too late')
    assert.equal(written, [7])
  })

  it('fails with what kept it from being written', async () => {
    const of = createProgress(clock, () => Promise.reject(new Failure('conflict', 'somebody else wrote')))
    assert.is(await of.during(() => go(of, 60, 100)).catch((failure: Error) => failure.message), 'somebody else wrote')
  })
})
