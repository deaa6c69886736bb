import { equal, is, ok } from 'uvu/assert'
import { accountOfUser, userOfAccount } from '../../../src/api/index.ts'
import { createDevelopsAtPace, createPace } from '../../../src/kas/kubernetes-api/pace.ts'
import type { Identify } from '../../../src/kas/kubernetes-api/people.ts'
import type { Develops } from '../../../src/kas/projects/develop.ts'
import { Failure, isFailure, Secret, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

/** Tokens that begin with `unknown` are nobody's; of the others the first word is whose they are. */
const identify: Identify = async (token) => {
  const [name = ''] = token.reveal().split(' ')
  if (name === 'unknown') throw new Failure('unauthorized', 'the token is not known')
  const account = accountOfUser(name)
  return { name, uid: name, groups: [], extra: {}, account }
}

const account = (namespace: string, name: string): string => userOfAccount({ namespace, name })

function given() {
  const clock = steppedClock()
  const slowed: string[] = []
  const operator = { namespace: 'berth', name: 'operator' }
  const pace = createPace({ identify, perSecond: 2, operator, slowed: (limit) => slowed.push(limit), clock })
  /** How long to wait; 0 when the visitor may go on, -1 for an unknown token. */
  const ask = async (token: string, peer = '10.0.0.1'): Promise<number> => {
    try {
      await pace.visit(new Secret(token), peer)
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
  /** What becomes of one who asks for the agent of that number. */
  const judged = async (name: string, id: number, judge: () => Promise<unknown>): Promise<'in' | 'out' | 'later' | 'away'> => {
    try {
      await pace.judged(await identify(new Secret(name)), { id: BigInt(id) }, judge)
      return 'in'
    } catch (thrown) {
      if (isFailure(thrown, 'forbidden')) return 'out'
      return isFailure(thrown) && thrown.reason === 'TooManyRequests' ? 'later' : 'away'
    }
  }
  return { clock, slowed, ask, many, judged }
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
    equal(new Set(await many(1000, () => account('berth', 'operator'))), new Set([0]))
  })

  it('is limited for all accounts of one namespace together, of which anybody may make a thousand', async () => {
    const { slowed, ask, many } = given()
    equal(new Set(await many(40, (at) => account('evil', `a${at}`))), new Set([0]))
    is(await ask(account('evil', 'b')), 250)
    is(await ask(account('team-a', 'a')), 0)
    is(await ask('ann'), 0)
    equal(slowed, ['namespace'])
  })

  it('is not limited for others of a namespace by one account alone', async () => {
    const { slowed, ask, many } = given()
    await many(30, () => account('runners', 'busy'))
    is(await ask(account('runners', 'other')), 0)
    equal(new Set(slowed), new Set(['person']))
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

  it('takes all addresses of one customer for one', async () => {
    const { ask, many } = given()
    await many(250, (at) => `unknown a ${at}`, '2001:db8:1:2::1')
    await many(250, (at) => `unknown b ${at}`, '2001:db8:1:2:3:4:5:6')
    is(await ask('unknown c', '2001:db8:1:2::ffff'), 20)
    is(await ask('unknown c', '2001:db8:1:3::1'), -1)
  })

  it('lets nobody be refused at more than a hundred agents at once, and then at one each second, whether or not there are any', async () => {
    const { clock, slowed, judged } = given()
    let looks = 0
    const refuse = async () => {
      looks++
      throw new Failure('forbidden', 'the Agent does not exist, or you may not reach it')
    }
    const allow = async () => void looks++
    is(await judged('eve', 1, allow), 'in')
    const all = await Promise.all(Array.from({ length: 300 }, (_, n) => judged('eve', n + 2, refuse)))
    equal([all.filter((one) => one === 'out').length, looks, slowed.length], [100, 101, 200])
    // Where he may go on he goes on, and others are not concerned.
    is(await judged('eve', 1, allow), 'in')
    is(await judged('eve', 2, allow), 'later')
    is(await judged('ann', 2, allow), 'in')
    await clock.step(seconds(1))
    is(await judged('eve', 3, refuse), 'out')
    is(await judged('eve', 4, refuse), 'later')
    // Who loses the right is one more who is refused.
    is(await judged('eve', 1, refuse), 'out')
    is(await judged('eve', 1, refuse), 'later')
  })

  it('lets the accounts of a namespace be refused at a thousand agents together, and then at ten each second', async () => {
    const { clock, judged } = given()
    const refuse = () => Promise.reject(new Failure('forbidden', 'no'))
    const all = await Promise.all(Array.from({ length: 1200 }, (_, n) => judged(account('evil', `a${n}`), n, refuse)))
    equal([all.filter((one) => one === 'out').length, all.at(-1)], [1000, 'later'])
    is(await judged(account('team-a', 'a'), 1, refuse), 'out')
    await clock.step(seconds(1))
    is(await judged(account('evil', 'b'), 1, refuse), 'out')
  })

  it('takes nothing of an account that has to wait for the others of its namespace', async () => {
    const { clock, judged } = given()
    const refuse = () => Promise.reject(new Failure('forbidden', 'no'))
    for (let n = 0; n < 1000; n++) await judged(account('evil', `a${n}`), n, refuse)
    for (let n = 0; n < 100; n++) is(await judged(account('evil', 'b'), n, refuse), 'later')
    await clock.step(seconds(5))
    for (let n = 0; n < 50; n++) is(await judged(account('evil', 'b'), n, refuse), 'out')
    is(await judged(account('evil', 'b'), 50, refuse), 'later')
  })

  it('counts no agent that somebody may reach, however many there are', async () => {
    const { judged } = given()
    const away = () => Promise.reject(new Failure('unavailable', 'the API server is away'))
    for (let n = 0; n < 300; n++) is(await judged('ann', n, async () => undefined), 'in')
    for (let n = 0; n < 300; n++) is(await judged('bob', n, away), 'away')
    for (let n = 0; n < 300; n++)
      is(await judged(account('berth', 'operator'), n, () => Promise.reject(new Failure('forbidden', 'no'))), 'out')
  })
})

describe('kas: how many projects a visitor has it look through', (it) => {
  const looking = (isRemembered = false) => {
    const clock = steppedClock()
    const slowed: string[] = []
    const operator = { namespace: 'berth', name: 'operator' }
    let asked = 0
    const develops: Develops = async (_, __, onAsk) => {
      asked++
      if (!isRemembered) onAsk?.()
      return false
    }
    const developsAtPace = createDevelopsAtPace({ develops, operator, slowed: (limit) => slowed.push(limit), clock })
    const visit = async (name: string, projects: number): Promise<'in' | 'later'> => {
      const mayDevelop = developsAtPace()
      try {
        for (let at = 0; at < projects; at++) await mayDevelop({ name, uid: '', groups: [], extra: {} }, PROJECT)
        return 'in'
      } catch (thrown) {
        if (isFailure(thrown, 'unavailable') && thrown.reason === 'TooManyRequests') return 'later'
        throw thrown
      }
    }
    return { clock, slowed, visit, asked: () => asked }
  }

  it('is limited for all accounts of one namespace together, and not in the middle of a visit', async () => {
    const { clock, slowed, visit, asked } = looking()
    const all: string[] = []
    for (let at = 0; at < 30; at++) all.push(await visit(account('evil', `a${at}`), 700))
    // The fifteenth goes on though there is too little left for all of it.
    equal([all.lastIndexOf('in'), all.indexOf('later'), asked()], [14, 15, 15 * 700])
    const others = [account('team-a', 'job'), 'ann', account('berth', 'operator')]
    equal(await Promise.all(others.map((name) => visit(name, 500))), ['in', 'in', 'in'])
    is(await visit(account('evil', 'b'), 1), 'later')
    equal(new Set(slowed), new Set(['questions']))
    await clock.step(seconds(60))
    is(await visit(account('evil', 'b'), 1), 'in')
  })

  it('has an end for those who begin at once, too', async () => {
    const { clock, visit, asked } = looking()
    await Promise.all(Array.from({ length: 500 }, (_, at) => visit(account('evil', `a${at}`), 500)))
    ok(asked() < 13_000, `${asked()}`)
    await clock.step(seconds(5))
    is(await visit(account('evil', 'b'), 1), 'in')
  })

  it('is ten times as many where the answers are remembered', async () => {
    const { visit, asked } = looking(true)
    for (let at = 0; at < 300; at++) await visit(account('evil', `a${at}`), 500)
    is(asked(), 100_000)
  })
})

const PROJECT = { path: 'evil/p' } as Parameters<ReturnType<ReturnType<typeof createDevelopsAtPace>>>[1]
