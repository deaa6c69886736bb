import { equal, is, ok } from 'uvu/assert'
import { createBuckets, createLimiter, seconds } from '../../src/std/index.ts'
import { steppedClock } from '../support/clock.ts'
import { describe } from '../support/suite.ts'

describe('a limit of rate', (it) => {
  it('lets a burst in, then as many as the rate allows', async () => {
    const clock = steppedClock()
    const limit = createLimiter({ burst: 3, perSecond: 2 }, clock)
    equal([limit('a'), limit('a'), limit('a')], [0, 0, 0])
    is(limit('a'), 500)
    await clock.step(500)
    is(limit('a'), 0)
    ok(limit('a') > 0)
    await clock.step(seconds(60))
    equal([limit('a'), limit('a'), limit('a')], [0, 0, 0])
    ok(limit('a') > 0)
  })

  it('counts each key for itself', () => {
    const limit = createLimiter({ burst: 1, perSecond: 1 }, steppedClock())
    equal([limit('a'), limit('b')], [0, 0])
    ok(limit('a') > 0)
  })

  it('remembers no more than ten thousand keys', () => {
    const limit = createLimiter({ burst: 1, perSecond: 0.001 }, steppedClock())
    limit('first')
    for (let at = 0; at < 9999; at++) limit(`${at}`)
    ok(limit('first') > 0)
    for (let at = 0; at < 10_000; at++) limit(`${at} more`)
    is(limit('first'), 0)
  })

  it('lets more be spent than there is, and has it waited for', async () => {
    const clock = steppedClock()
    const { wait, spend } = createBuckets({ burst: 100, perSecond: 10 }, clock)
    is(wait('a'), 0)
    spend('a', 150)
    is(wait('a'), 5100)
    is(wait('b'), 0)
    await clock.step(5100)
    is(wait('a'), 0)
  })
})
