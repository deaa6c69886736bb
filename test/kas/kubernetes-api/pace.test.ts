import { equal, is } from 'uvu/assert'
import { createPace } from '../../../src/kas/kubernetes-api/pace.ts'
import type { Identify } from '../../../src/kas/kubernetes-api/people.ts'
import { Failure, isFailure, Secret, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

/** Tokens that begin with `unknown` are nobody's; of the others the first word is whose they are. */
const identify: Identify = async (token) => {
  const [name = ''] = token.reveal().split(' ')
  if (name === 'unknown') throw new Failure('unauthorized', 'the token is not known')
  const account = name === 'operator' ? { namespace: 'berth', name } : undefined
  return { name, uid: name, groups: [], extra: {}, account }
}

function given() {
  const clock = steppedClock()
  const slowed: string[] = []
  const operator = { namespace: 'berth', name: 'operator' }
  const pace = createPace({ identify, perSecond: 2, operator, slowed: (limit) => slowed.push(limit), clock })
  /** How long to wait; 0 when the visitor may go on, -1 for an unknown token. */
  const ask = async (token: string, peer = '10.0.0.1'): Promise<number> => {
    try {
      await pace(new Secret(token), peer)
      return 0
    } catch (thrown) {
      if (isFailure(thrown, 'unauthorized')) return -1
      if (isFailure(thrown, 'unavailable') && thrown.reason === 'TooManyRequests') return thrown.retryAfter ?? 0
      throw thrown
    }
  }
  const many = async (count: number, token: (at: number) => string, peer?: string) => {
    const waits: number[] = []
    for (let at = 0; at < count; at++) waits.push(await ask(token(at), peer))
    return waits
  }
  return { clock, slowed, ask, many }
}

describe('kas: how fast people may ask', (it) => {
  it('is limited for each of them, with whatever tokens', async () => {
    const { clock, slowed, ask, many } = given()
    equal(new Set(await many(20, (at) => `ann ${at}`)), new Set([0]))
    is(await ask('ann 1'), 500)
    is(await ask('bob'), 0)
    await clock.step(seconds(0.5))
    is(await ask('ann 2'), 0)
    equal(slowed, ['person'])
  })

  it('is not limited for the operator, who works for everybody', async () => {
    const { many } = given()
    equal(new Set(await many(1000, () => 'operator')), new Set([0]))
  })

  it('is limited for tokens that nobody knows, by address, and not for who is known already', async () => {
    const { slowed, ask, many } = given()
    is(await ask('ann'), 0)
    const waits = await many(501, (at) => `unknown ${at}`)
    is(waits.filter((wait) => wait === -1).length, 499)
    is(waits.at(-1), 20)
    is(await ask('ann'), 0)
    is(await ask('bob'), 20)
    is(await ask('bob', '10.0.0.2'), 0)
    equal(slowed, ['unknown', 'unknown', 'unknown'])
  })
})
