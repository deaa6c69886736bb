import { equal, is, match } from 'uvu/assert'
import { openRedis, type Redis, type RedisAccess } from '../../../src/adapters/redis/index.ts'
import { type Failure, Secret, systemClock } from '../../../src/std/index.ts'
import { lacksRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe(
  'a connection to Redis',
  (it) => {
    let server: RedisServer
    let redis: Redis
    const heard: string[] = []
    const troubles: Failure[] = []
    let ups = 0
    const open = (access: Partial<RedisAccess> = {}) =>
      openRedis({
        url: server.url,
        ...access,
        channel: 'news',
        onMessage: (text) => heard.push(text),
        onUp: () => ups++,
        onDown: (failure) => troubles.push(failure),
        clock: systemClock,
      })
    it.before(async () => {
      server = await startRedis()
    })
    it.beforeEach(async () => {
      troubles.length = 0
      redis = open()
      await eventually(() => redis.isUp)
    })
    it.afterEach(async () => {
      await redis.stop()
      await server.ask('FLUSHALL')
    })
    it.after(() => server.remove())

    it('does all of a transaction, or nothing', async () => {
      await redis.transact([
        ['HSET', 'one', 'a', '1'],
        ['HSET', 'two', 'b', '2'],
      ])
      equal(
        [...(await redis.fields('one')), ...(await redis.fields('two'))],
        [
          ['a', '1'],
          ['b', '2'],
        ],
      )
      const failure = await failureOf(() => redis.transact([['HSET', 'three', 'c', '3'], ['NONSENSE']]))
      is(failure.code, 'unavailable')
      equal([...(await redis.fields('three'))], [])
    })

    it('takes a field out only with the value that it is known to have', async () => {
      await redis.transact([['HSET', 'one', 'a', '1']])
      await redis.dropField('one', 'a', '2')
      equal([...(await redis.fields('one'))], [['a', '1']])
      await redis.dropField('one', 'a', '1')
      equal([...(await redis.fields('one'))], [])
    })

    it('hears what is published again after Redis was away, and fails at once meanwhile', async () => {
      await redis.publish('before')
      await eventually(() => heard.includes('before'))
      const before = ups
      await server.kill()
      await eventually(() => !redis.isUp)
      const failure = await failureOf(() => redis.fields('one'))
      equal([failure.code, failure.reason], ['unavailable', 'RedisAway'])
      await server.start()
      await eventually(() => redis.isUp)
      is(ups, before + 1)
      await redis.publish('after')
      await eventually(() => heard.includes('after'))
    })

    it('gives up a Redis that hangs, and comes back by itself when it hangs no more', async () => {
      server.freeze()
      const hanging = [redis.fields('one', 50), redis.fields('one'), redis.transact([['HSET', 'one', 'a', '1']])]
      const failures = await Promise.all(hanging.map((one) => failureOf(() => one)))
      equal(new Set(failures.map(({ reason }) => reason)), new Set(['RedisAway']))
      await eventually(() => !redis.isUp)
      server.resume()
      await eventually(() => redis.isUp)
    })

    it('says which right a user lacks, and no password', async () => {
      await server.ask('ACL', 'SETUSER', 'kas', 'on', '>open-sesame', '~*', '&news', '+@all', '-hset')
      const limited = open({ user: 'kas', password: async () => new Secret('open-sesame') })
      await eventually(() => limited.isUp)
      const forbidden = await failureOf(() => limited.transact([['HSET', 'one', 'a', '1']]))
      equal([forbidden.code, forbidden.reason], ['forbidden', 'RedisForbidden'])
      await limited.stop()
      const wrong = open({ user: 'kas', password: async () => new Secret('shut-sesame') })
      await eventually(() => troubles.some(({ reason }) => reason === 'RedisPasswordWrong'))
      await wrong.stop()
      const said = troubles.map((failure) => `${failure.message} ${failure.cause}`).join()
      match(said, 'refuses the password')
      is(said.includes('sesame'), false)
    })

    it('ends while it connects', async () => {
      await server.kill()
      const late = open()
      await late.stop()
      is(late.isUp, false)
      await server.start()
    })
  },
  await lacksRedis(),
)
