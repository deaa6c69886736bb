import { equal, is } from 'uvu/assert'
import { createFetchBackoff } from '../../../src/kas/git-polling/fetch-backoff.ts'
import { createLanes } from '../../../src/kas/git-polling/lanes.ts'
import { Failure, isFailure, minutes, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { settle } from '../../support/verbs.ts'

describe('lanes', (it) => {
  it('let repositories that hang delay one another, and nobody who answered before', async () => {
    const lanes = createLanes(4)
    const good = lanes.lane('good', 'team')
    await good.pass(async () => undefined)
    const hanging = Array.from({ length: 10 }, (_, at) => lanes.lane(`${at}`, `team-${at}`))
    const { promise, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const all = hanging.map((lane) =>
      lane.pass(() => {
        begun++
        return promise
      }),
    )
    await settle()
    equal([begun, lanes.waiting], [2, 8])
    is(await good.pass(async () => 'served'), 'served')
    is(await lanes.pass('others', async () => 'read'), 'read')
    resolve()
    await Promise.all(all)
    equal([begun, lanes.waiting], [10, 0])
  })

  it('give one repository two places, however many refs of it are followed', async () => {
    const lanes = createLanes(4)
    const [refs, good] = [Array.from({ length: 10 }, () => lanes.lane('large', 'team')), lanes.lane('good', 'others')]
    await Promise.all([...refs, good].map((lane) => lane.pass(async () => undefined)))
    const { promise, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const all = refs.map((lane) =>
      lane.pass(() => {
        begun++
        return promise
      }),
    )
    await settle()
    is(begun, 2)
    is(await good.pass(async () => 'served'), 'served')
    resolve()
    await Promise.all(all)
    is(begun, 10)
  })

  it('leave a place to others, however many repositories a namespace has', async () => {
    const lanes = createLanes(4)
    const mine = Array.from({ length: 10 }, (_, at) => lanes.lane(`mine-${at}`, 'team'))
    const others = lanes.lane('theirs', 'others')
    await Promise.all([...mine, others].map((lane) => lane.pass(async () => undefined)))
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = mine.map((lane) => lane.pass(() => promise))
    const local = mine.map(() => lanes.pass('team', () => promise))
    await settle()
    is(lanes.waiting, 14)
    is(await others.pass(async () => 'served'), 'served')
    is(await lanes.pass('others', async () => 'read'), 'read')
    resolve()
    await Promise.all([...all, ...local])
    is(lanes.waiting, 0)
  })

  it('send a repository that failed to wait with the others that do', async () => {
    const lanes = createLanes(2)
    const [one, other] = [lanes.lane('one', 'team'), lanes.lane('other', 'others')]
    await one.pass(async () => undefined)
    await one
      .pass(async () => {
        throw new Failure('unavailable', 'gone')
      })
      .catch(() => undefined)
    const { promise, resolve } = Promise.withResolvers<void>()
    const hung = other.pass(() => promise)
    let isServed = false
    const waits = one.pass(async () => {
      isServed = true
    })
    await settle()
    is(isServed, false)
    resolve()
    await Promise.all([hung, waits])
    is(isServed, true)
  })
})

describe('patience', (it) => {
  const failing = (what: { tries: number }) => async () => {
    what.tries++
    throw new Failure('unavailable', `try ${what.tries}`)
  }
  const messageOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (thrown: unknown) => (isFailure(thrown) ? thrown.message : ''),
    )

  it('gives the old answer for a while, and waits longer each time', async () => {
    const clock = steppedClock()
    const patience = createFetchBackoff(clock)
    const what = { tries: 0 }
    const attempt = () => messageOf(patience.try('c1', failing(what)))
    equal([await attempt(), await attempt(), await attempt()], ['try 1', 'try 1', 'try 1'])
    for (let at = 0; at < 3600; at++) {
      await clock.step(seconds(1))
      await attempt()
    }
    is(what.tries > 12 && what.tries < 40, true, `${what.tries} tries in an hour`)
  })

  it('does not hold up another commit, nor who is told to hurry', async () => {
    const patience = createFetchBackoff(steppedClock())
    const what = { tries: 0 }
    await messageOf(patience.try('c1', failing(what)))
    is(await patience.try('c2', async () => 'here'), 'here')
    await messageOf(patience.try('c1', failing(what)))
    patience.forget()
    await messageOf(patience.try('c1', failing(what)))
    is(what.tries, 3)
  })

  it('forgets what failed once something succeeded', async () => {
    const clock = steppedClock()
    const patience = createFetchBackoff(clock)
    const what = { tries: 0 }
    await messageOf(patience.try('c1', failing(what)))
    await clock.step(minutes(6))
    is(await patience.try('c1', async () => 'here'), 'here')
    is(await messageOf(patience.try('c1', failing(what))), 'try 2')
  })
})
