import { equal, is } from 'uvu/assert'
import { createErrands } from '../../../../src/operator/workspace/objects/errands.ts'
import { seconds } from '../../../../src/std/index.ts'
import { steppedClock } from '../../../support/clock.ts'
import { describe } from '../../../support/suite.ts'

describe('workspace: errands', (it) => {
  const given = () => {
    const clock = steppedClock()
    const woken: string[] = []
    const errands = createErrands<{ done: string }>(clock)
    const { promise, resolve, reject } = Promise.withResolvers<{ done: string }>()
    const run = (uid: string, plan: string, work: () => Promise<{ done: string }>, target = 'here') =>
      errands.run({ uid, plan, target, work, over: () => woken.push(uid) })
    return { clock, woken, errands, run, slow: () => promise, resolve, reject }
  }
  const quick = async () => ({ done: 'quickly' })
  const messageOf = (outcome: Promise<unknown>) => outcome.then(String, (thrown: Error) => thrown.message)

  it('tell the outcome at once where it comes at once, and throw what failed', async () => {
    const { run, woken } = given()
    equal(await run('a', '1', quick), { done: 'quickly' })
    is(await messageOf(run('a', '1', () => Promise.reject(new Error('no')))), 'no')
    equal(woken, [])
  })

  it('are not waited for longer than two seconds, and wake whoever gave them when they are over', async () => {
    const { clock, run, slow, resolve, woken, errands } = given()
    const waiting = run('a', '1', slow)
    await clock.step(seconds(2))
    is(await waiting, undefined)
    is(errands.isUnderWay('a'), true)
    resolve({ done: 'late' })
    await clock.step(0)
    equal(woken, ['a'])
    is(errands.isUnderWay('a'), false)
    equal(await run('a', '1', quick), { done: 'late' })
  })

  it('keep nobody waiting at a target that was slow, until it was quick again', async () => {
    const { clock, run, slow, resolve } = given()
    const waiting = run('a', '1', slow)
    await clock.step(seconds(2))
    await waiting
    const { promise } = Promise.withResolvers<{ done: string }>()
    const other = run('b', '1', () => promise)
    await clock.step(0)
    is(await other, undefined)
    equal(await run('c', '1', quick, 'elsewhere'), { done: 'quickly' })
    resolve({ done: 'late' })
  })

  it('wait again for a target that answers quickly, also where it refuses', async () => {
    const { clock, run, slow, reject, woken } = given()
    const waiting = run('a', '1', slow)
    await clock.step(seconds(2))
    await waiting
    reject(new Error('late'))
    await clock.step(0)
    equal(woken, ['a'])
    is(await messageOf(run('a', '1', slow)), 'late')
    const answer = Promise.withResolvers<never>()
    const stands = messageOf(run('a', '1', () => answer.promise))
    await clock.step(0)
    is(await stands, 'late', 'nobody waits for a slow target, and the last failure stands')
    answer.reject(new Error('quickly'))
    await clock.step(0)
    is(await messageOf(run('a', '1', quick)), 'quickly')
    const awaited = Promise.withResolvers<{ done: string }>()
    const last = run('a', '1', () => awaited.promise)
    await clock.step(seconds(1))
    awaited.resolve(await quick())
    equal(await last, { done: 'quickly' }, 'the target is waited for again')
  })

  it('do not tell the failure of an older plan while the newer one is under way', async () => {
    const { clock, run, slow, resolve } = given()
    is(await messageOf(run('a', '1', () => Promise.reject(new Error('old')))), 'old')
    const newer = run('a', '2', slow)
    await clock.step(seconds(2))
    is(await newer, undefined)
    resolve({ done: 'late' })
    await clock.step(0)
    equal(await run('a', '2', quick), { done: 'late' })
  })

  it('forget which targets were slow where tenants name ever new ones', async () => {
    const { clock, run, slow, resolve } = given()
    const { promise } = Promise.withResolvers<{ done: string }>()
    const waitOf = async (uid: string, target: string) => {
      const waiting = run(uid, '1', () => promise, target)
      await clock.step(0)
      const timers = clock.waiting()
      await clock.step(seconds(2))
      await waiting
      return timers
    }
    is(await waitOf('a', 'here'), 1)
    is(await waitOf('b', 'here'), 0)
    const others = Array.from({ length: 1000 }, (_, at) => run(`other-${at}`, '1', slow, `elsewhere-${at}`))
    await clock.step(seconds(2))
    await Promise.all(others)
    is(await waitOf('c', 'elsewhere-999'), 0)
    is(await waitOf('d', 'here'), 1)
    resolve({ done: 'late' })
  })

  it('never tell an older failure once there is a newer plan, and never run two at once', async () => {
    const { clock, run, slow, reject } = given()
    const first = run('a', '1', slow)
    await clock.step(seconds(2))
    await first
    let begun = 0
    const newer = async () => {
      begun++
      return { done: 'newer' }
    }
    const second = run('a', '2', newer)
    await clock.step(0)
    is(await second, undefined)
    is(begun, 0)
    reject(new Error('of the older plan'))
    await clock.step(0)
    const third = run('a', '2', newer)
    await clock.step(0)
    equal(await third, { done: 'newer' })
  })
})
