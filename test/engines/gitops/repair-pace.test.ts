import { equal, is } from 'uvu/assert'
import { createRepairPace, REPAIRS } from '../../../src/engines/gitops/watch/sync-memory.ts'
import { type Clock, createBuckets, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const createRepairBuckets = (clock: Clock) => ({ usual: createBuckets(REPAIRS, clock), asked: createBuckets(REPAIRS, clock) })
const keysOf = (count: number) => Array.from({ length: count }, (_, at) => `key ${at}`)

describe('the pace of repairs', (it) => {
  it('sets back very much at once, and then so much a second, whoever was not set back for longest first', async () => {
    const clock = steppedClock()
    const admit = createRepairPace(createRepairBuckets(clock), 'team')
    const keys = keysOf(10_250)
    is(admit(keys, false).size, 10_000)
    is(admit(keys, false).size, 0)
    await clock.step(seconds(1))
    equal([...admit(keys, false)], keys.slice(10_000, 10_100))
    await clock.step(seconds(1))
    equal([...admit(keys, false)], keys.slice(10_100, 10_200))
    await clock.step(seconds(1))
    // What was refused or changed meanwhile waits again, behind those that waited already.
    equal([...admit([...keys.slice(0, 80), ...keys.slice(10_200)], false)], [...keys.slice(10_200), ...keys.slice(0, 50)])
  })

  it('lets nobody wait for what changes again after each repair', async () => {
    const clock = steppedClock()
    const admit = createRepairPace(createRepairBuckets(clock), 'team')
    const restless = keysOf(10_000)
    admit(restless, false)
    let passed = 0
    for (let isDone = false; !isDone; passed++) {
      await clock.step(seconds(1))
      // A hundred of them have been set back, and have changed again.
      isDone = admit([...restless, 'last'], false).has('last')
    }
    is(passed, 101)
  })

  it('shares it between the syncs of a tenant, and takes nothing of another', () => {
    const buckets = createRepairBuckets(steppedClock())
    is(createRepairPace(buckets, 'team')(keysOf(10_000), false).size, 10_000)
    is(createRepairPace(buckets, 'team')(keysOf(1), false).size, 0)
    is(createRepairPace(buckets, 'other')(keysOf(1), false).size, 1)
  })

  it('does as much again for whoever asks, and no more', () => {
    const admit = createRepairPace(createRepairBuckets(steppedClock()), 'team')
    is(admit(keysOf(10_000), false).size, 10_000)
    is(admit(keysOf(9000), true).size, 9000)
    is(admit(keysOf(9000), true).size, 1000)
    is(admit(keysOf(1), false).size, 0)
  })
})
