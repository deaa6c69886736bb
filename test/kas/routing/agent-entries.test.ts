import { equal, is, ok } from 'uvu/assert'
import { openRedis } from '../../../src/adapters/redis/index.ts'
import { channelOf, createPeerRegistry, createRedisRegistry } from '../../../src/kas/routing/index.ts'
import { minutes, seconds, silentLog, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { lacksRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const keyOf = (id: number | bigint) => `berth:tunnels-by-agent-id:${id}`
const urlOf = (n: number) => `grpc://10.0.0.${n}:8155`
const URLS = [1, 2, 3].map(urlOf)
const ids = (count: number) => Array.from({ length: count }, (_, n) => BigInt(n + 1))

describe(
  'what three kas write into Redis',
  (it) => {
    let redis: RedisServer
    let clock = steppedClock()
    const closing: (() => Promise<unknown>)[] = []
    it.before(async () => {
      redis = await startRedis()
    })
    it.beforeEach(() => {
      clock = steppedClock(Date.now())
    })
    it.afterEach(async () => {
      for (const close of closing.splice(0)) await close()
      await redis.ask('FLUSHALL')
    })
    it.after(() => redis.remove())

    /** The registry of the kas of that number. Its own time stands still; that of its connection to Redis does not. */
    const registry = async (n: number) => {
      const around = { clock, log: silentLog }
      const names = createPeerRegistry({
        ...around,
        peers: ['grpc://kas:8155'],
        resolve: async () => URLS,
        isSelf: (url) => url === urlOf(n),
      })
      await names.own()
      const failures: string[] = []
      const one = createRedisRegistry({
        ...{ ...around, names, prefix: 'berth' },
        connect: (told) => openRedis({ url: redis.url, channel: channelOf('berth'), ...told, clock: systemClock }),
        onFailed: (reason) => failures.push(reason),
      })
      closing.push(() => one.stop())
      await eventually(() => one.isUp)
      return Object.assign(one, { failures })
    }
    const three = async () => {
      const [first, second, third] = await Promise.all([registry(1), registry(2), registry(3)])
      ok(first && second && third)
      return [first, second, third] as const
    }
    const written = async () => (await redis.ask('KEYS', keyOf(0).replace(/0$/, '*'))).split('\n').filter(Boolean)
    const fieldsOf = async (id: number) => (await redis.ask('HKEYS', keyOf(id))).split('\n').filter(Boolean).sort()

    it('wakes who waits for an agent elsewhere as soon as it is there, before anybody else is asked', async () => {
      const [first, second, third] = await three()
      const took: number[] = []
      for (const id of ids(100)) {
        const told = Promise.withResolvers<string>()
        const unfollow = first.follow(id, told.resolve)
        equal(await first.kasToAsk(id), [])
        const began = performance.now()
        const [by, url] = id % 2n ? [second, urlOf(2)] : [third, urlOf(3)]
        by.tell(id, true)
        equal(await told.promise, url)
        took.push(performance.now() - began)
        equal(await first.kasToAsk(id), [url])
        unfollow()
      }
      took.sort((one, other) => one - other)
      const said = (part: number) => `${took[Math.floor(part * (took.length - 1))]?.toFixed(1)} ms`
      console.log(`      woken after: median ${said(0.5)}, 99 % ${said(0.99)}, longest ${said(1)}`)
      is(clock.waiting(), 6)
    })

    it('costs two commands or fewer for each agent in a minute, with a thousand at each kas', async () => {
      const all = await three()
      const before = await redis.commands()
      /** How often this one was run since then. */
      const ran = async (name: string) => ((await redis.commands())[name] ?? 0) - (before[name] ?? 0)
      for (const one of all) for (const id of ids(1000)) one.tell(id, true)
      await eventually(async () => (await ran('hset')) === 3000)
      const begun = await redis.commands()
      // Two of the rounds in which what is left of others is looked for are among these minutes.
      for (let round = 1; round <= 6; round++) {
        await clock.step(minutes(4))
        await eventually(async () => (await ran('hset')) === (round + 1) * 3000)
        if (round % 3 === 0) await eventually(async () => (await ran('hgetall')) === round * 1000)
      }
      const ofThisTest = ['info', 'ping']
      const commands = Object.entries(await redis.commands()).reduce(
        (sum, [name, calls]) => (ofThisTest.includes(name) ? sum : sum + calls - (begun[name] ?? 0)),
        0,
      )
      // Each connection asks every five seconds whether Redis is there.
      const beats = all.length * 12 * 24
      const each = (commands + beats) / 1000 / 24
      console.log(`      ${commands} commands and ${beats} pings in 24 minutes: ${each.toFixed(2)} for each agent in a minute`)
      ok(each <= 2, `${each}`)
      for (const one of all) equal(one.failures, [])
    })

    it('is gone five minutes after its kas has gone, and is written again every four minutes while it is there', async () => {
      const [first] = await three()
      first.tell(1n, true)
      await eventually(async () => (await fieldsOf(1)).length === 1)
      const until = async () => Number(await redis.ask('HGET', keyOf(1), urlOf(1)))
      const before = await until()
      is(before, clock.now() + minutes(5))
      await redis.ask('PEXPIRE', keyOf(1), '250000')
      await clock.step(minutes(4))
      await eventually(async () => (await until()) === before + minutes(4))
      ok(Number(await redis.ask('PTTL', keyOf(1))) > 290_000)
    })

    it('loses entries of kas that are gone, and no other, where another one keeps the hash', async () => {
      const [first, second] = await three()
      first.tell(1n, true)
      second.tell(1n, true)
      await eventually(async () => (await fieldsOf(1)).length === 2)
      await redis.ask('HSET', keyOf(1), urlOf(3), String(clock.now() + minutes(5)), 'nonsense', 'soon')
      equal((await first.kasToAsk(1n)).sort(), [urlOf(2), urlOf(3)])
      // Nobody asks there any more when its time is over.
      await clock.step(minutes(6))
      await eventually(async () => (await first.kasToAsk(1n)).length === 1)
      await clock.step(minutes(5))
      await eventually(async () => (await fieldsOf(1)).length === 2)
      equal(await fieldsOf(1), [urlOf(1), urlOf(2)])
    })

    it('stays while an agent is away for a moment, and goes when it is away for longer', async () => {
      const [first] = await three()
      for (const id of [1n, 2n]) first.tell(id, true)
      await eventually(async () => (await written()).length === 2)
      for (const id of [1n, 2n]) first.tell(id, false)
      await clock.step(seconds(3))
      first.tell(1n, true)
      await clock.step(seconds(3))
      await eventually(async () => (await written()).length === 1)
      equal(await written(), [keyOf(1)])
    })

    it('is written again at once into a Redis that has lost it', async () => {
      const [first] = await three()
      for (const id of ids(1200)) first.tell(id, true)
      await eventually(async () => (await written()).length === 1200)
      await redis.kill()
      await eventually(() => !first.isUp)
      for (const id of [1n, 1201n]) first.tell(id, true)
      await redis.start()
      await eventually(async () => (await written()).length === 1201)
    })
  },
  await lacksRedis(),
)

describe(
  'a kas that nobody else could ask',
  (it) => {
    let redis: RedisServer
    it.before(async () => {
      redis = await startRedis()
    })
    it.after(() => redis.remove())

    it('writes nothing, and says why', async () => {
      const around = { clock: systemClock, log: silentLog }
      const names = createPeerRegistry({ ...around, peers: ['grpc://kas:8155'], resolve: async () => URLS, isSelf: () => false })
      const failures: string[] = []
      const one = createRedisRegistry({
        ...{ ...around, names, prefix: 'berth' },
        connect: (told) => openRedis({ url: redis.url, channel: channelOf('berth'), ...told, clock: systemClock }),
        onFailed: (reason) => failures.push(reason),
      })
      await eventually(() => one.isUp)
      one.tell(1n, true)
      await eventually(() => failures.includes('OwnAddressUnknown'))
      is(await redis.ask('DBSIZE'), '0')
      await one.stop()
    })
  },
  await lacksRedis(),
)
