import * as assert from 'uvu/assert'
import { every, Failure, seconds, within } from '../../src/std/index.ts'
import { steppedClock } from '../support/clock.ts'
import { describe } from '../support/suite.ts'

const whenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

describe('within', (it) => {
  const forever = new AbortController().signal

  it('gives what the work gave', async () => {
    assert.is(await within(60_000, forever, () => Promise.resolve(7)), 7)
  })

  it('ends work that takes too long as a timeout', async () => {
    const failure = await within(5, forever, whenAborted).catch(Failure.from)
    assert.instance(failure, Failure)
    assert.is(failure.code, 'timeout')
  })

  it('ends work with the signal, for its reason', async () => {
    const stopping = new AbortController()
    const working = within(60_000, stopping.signal, whenAborted).catch((reason: unknown) => reason)
    stopping.abort('enough')
    assert.is(await working, 'enough')
  })

  it('begins with an aborted signal where it was aborted before', async () => {
    assert.ok(await within(60_000, AbortSignal.abort(), (signal) => Promise.resolve(signal.aborted)))
  })

  it('leaves no timer and no listener', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const { signal } = new AbortController()
    let added = 0
    let removed = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      added++
      add(...given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      removed++
      remove(...given)
    }
    await within(60_000, signal, () => Promise.resolve())
    assert.is(timers(), before)
    assert.is(added, 1)
    assert.is(removed, 1)
  })
})

describe('every', (it) => {
  it('counts from the end of the work, and ends when what is under way is done', async () => {
    const clock = steppedClock()
    const done: (() => void)[] = []
    const stop = every(clock, seconds(5), () => new Promise<void>((resolve) => done.push(resolve)))
    await clock.step(seconds(20))
    assert.equal([done.length, clock.waiting()], [1, 0])
    done[0]?.()
    await clock.step(seconds(5))
    assert.is(done.length, 2)
    const stopped = stop()
    done[1]?.()
    await stopped
    assert.is(clock.waiting(), 0)
  })

  it('goes on at once after work that promises nothing, and ends at once', async () => {
    const clock = steppedClock()
    let times = 0
    const stop = every(clock, seconds(5), () => void times++)
    await clock.step(seconds(16))
    void stop()
    assert.equal([times, clock.waiting()], [3, 0])
  })
})
