import { equal, is, ok } from 'uvu/assert'
import { createTurnstile, isFailure, type Turnstile } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import { settle } from '../support/verbs.ts'

/** Notes who has entered, in order, and lets them out by name. */
function watched(turnstile: Turnstile) {
  const inside: string[] = []
  const leavers = new Map<string, () => void>()
  return {
    inside,
    async come(name: string, key: string, weight?: number) {
      void turnstile.enter(key, weight === undefined ? {} : { weight }).then((leave) => {
        inside.push(name)
        leavers.set(name, leave)
      })
      await settle()
    },
    async leave(name: string) {
      leavers.get(name)?.()
      await settle()
    },
  }
}

describe('turnstile', (it) => {
  it('lets keys take turns, and those of one key in the order in which they came', async () => {
    const { inside, come, leave } = watched(createTurnstile({ width: 1 }))
    for (const name of ['a1', 'a2', 'a3']) await come(name, 'a')
    await come('b1', 'b')
    equal(inside, ['a1'])
    for (const name of ['a1', 'a2', 'b1']) await leave(name)
    equal(inside, ['a1', 'a2', 'b1', 'a3'])
  })

  it('lets no more of one key in than it may have, whatever is free', async () => {
    const { inside, come, leave } = watched(createTurnstile({ width: 3, each: 2 }))
    for (const name of ['a1', 'a2', 'a3']) await come(name, 'a')
    await come('b1', 'b')
    equal(inside, ['a1', 'a2', 'b1'])
    await leave('b1')
    equal(inside, ['a1', 'a2', 'b1'])
    await leave('a2')
    equal(inside, ['a1', 'a2', 'b1', 'a3'])
  })

  it('counts by weight, and lets what is too heavy in alone', async () => {
    const { inside, come, leave } = watched(createTurnstile({ each: 10 }))
    await come('a1', 'a', 4)
    await come('heavy', 'a', 50)
    await come('a2', 'a', 1)
    await come('b1', 'b', 10)
    equal(inside, ['a1', 'b1'])
    await leave('a1')
    equal(inside, ['a1', 'b1', 'heavy'])
    await leave('heavy')
    equal(inside, ['a1', 'b1', 'heavy', 'a2'])
  })

  it('forgets who no longer waits, and lets those behind him in', async () => {
    const turnstile = createTurnstile({ each: 10 })
    const first = await turnstile.enter('a', { weight: 6 })
    const ending = new AbortController()
    const heavy = turnstile.enter('a', { weight: 8, signal: ending.signal })
    const light = turnstile.enter('a', { weight: 4 })
    is(turnstile.waiting, 2)
    ending.abort()
    ok(isFailure(await heavy.catch((thrown: unknown) => thrown), 'cancelled'))
    await light
    is(turnstile.waiting, 0)
    ok(isFailure(await turnstile.enter('a', { signal: ending.signal }).catch((thrown: unknown) => thrown), 'cancelled'))
    first()
  })

  it('goes free again after work that fails, and once only however often it is left', async () => {
    const turnstile = createTurnstile({ width: 1 })
    const failed = await turnstile.pass('a', () => Promise.reject(new RangeError('broken'))).catch((thrown: unknown) => thrown)
    ok(failed instanceof RangeError)
    const leave = await turnstile.enter('a')
    leave()
    leave()
    const { inside, come } = watched(turnstile)
    await come('one', 'a')
    await come('two', 'a')
    equal(inside, ['one'])
  })
})
