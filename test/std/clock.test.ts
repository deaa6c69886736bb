import * as assert from 'uvu/assert'
import { Failure, within } from '../../src/std/index.ts'
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
