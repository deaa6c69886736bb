import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { createLog, seconds } from '../../../src/std/index.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { lacksRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ask, connectAgent, type Kas, METHOD, named, neighbours, openKas, secretFile } from './kas-stage.ts'

const keyOf = (id: bigint) => `berth:tunnels-by-agent-id:${id}`
const CHANNEL = 'berth:agent-connected'

const metric = async (kas: Kas, line: RegExp): Promise<number> =>
  [...(await kas.metrics.render()).matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0)
/** How often it was asked by other kas. */
const asked = (kas: Kas) => metric(kas, /^berth_kas_peer_requests_total\{tunnel="\w+"\} (\d+)$/gm)
/** Requests that wait there. */
const waitingAt = (kas: Kas) => () => metric(kas, /^berth_kas_requests_waiting (\d+)$/gm)
const isConnected = async (kas: Kas) => (await metric(kas, /^berth_kas_redis_connected (\d)$/gm)) === 1

describe(
  'kas with Redis',
  (it) => {
    let secret: Awaited<ReturnType<typeof secretFile>>
    let folder = ''
    let redis: RedisServer
    const closing: (() => Promise<unknown>)[] = []
    it.before(async () => {
      secret = await secretFile()
      folder = await mkdtemp(join(tmpdir(), 'berth-redis-'))
      redis = await startRedis()
    })
    it.afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close()
      await redis.ask('FLUSHALL')
    })
    it.after(async () => {
      await redis.remove()
      await secret.remove()
      await rm(folder, { recursive: true })
    })

    /** Two kas, or as many as there are accesses. */
    const open = async (accesses: (Parameters<typeof openKas>[1] & object)[]): Promise<[Kas, Kas, ...Kas[]]> => {
      const places = await neighbours(accesses.length)
      const all = await Promise.all(
        places.map((place, n) => openKas(secret.file, { ...place, redis: { url: redis.url }, ...accesses[n] })),
      )
      closing.push(() => Promise.all(all.map((one) => one.kill())))
      const [first, second, ...more] = all
      ok(first && second)
      return [first, second, ...more]
    }
    const connected = async (accesses: Parameters<typeof open>[0]) => {
      const all = await open(accesses)
      for (const one of all) await eventually(() => isConnected(one))
      return all
    }
    const agentAt = (kas: Kas, id: bigint, name: string) => {
      const leave = connectAgent(kas, id, named(name))
      closing.push(leave)
      return leave
    }
    const kasOf = async (id: bigint) => (await redis.ask('HKEYS', keyOf(id))).split('\n').filter(Boolean)
    const isWritten = (id: bigint) => eventually(async () => (await kasOf(id)).length > 0)
    const logged = () => {
      const lines: string[] = []
      return { log: createLog('debug', { write: (line) => lines.push(line) }), text: () => lines.join('') }
    }

    it('write down who has an agent, ask nobody else, and forget it with its last tunnel', async () => {
      const [first, second, third] = await connected([{}, {}, {}])
      ok(third)
      const leave = agentAt(third, 1n, 'there')
      await isWritten(1n)
      equal(await kasOf(1n), [`grpc://${third.privateApi}`])
      const left = Number(await redis.ask('PTTL', keyOf(1n)))
      ok(left > 0 && left <= 300_000, `${left}`)
      // Everybody is asked for one that takes longer than a second, and without Redis the second comes before the third.
      await eventually(async () => {
        const [before, there] = [await asked(second), await asked(third)]
        for (let n = 0; n < 5; n++) equal(await ask(first.router, 1n, 'x'), ['there', 'x'])
        return (await asked(second)) === before && (await asked(third)) === there + 5
      })
      await leave()
      await eventually(async () => (await kasOf(1n)).length === 0)
    })

    it('wake a request at another one, when its agent comes, as soon as one where it comes', async () => {
      const [first, second] = await connected([{}, {}])
      const waitingHere = waitingAt(second)
      const took: number[] = []
      for (let id = 1n; id <= 20n; id++) {
        const handled: number[] = []
        const waiting = [second, first].map((kas) => ask(kas.router, id))
        await eventually(async () => (await waitingHere()) >= 1)
        closing.push(
          connectAgent(second, id, async function* () {
            handled.push(performance.now())
            yield Buffer.from('there')
          }),
        )
        equal(await Promise.all(waiting), [['there'], ['there']])
        const [one = 0, other = 0] = handled
        took.push(other - one)
      }
      took.sort((one, other) => one - other)
      console.log(`      later than a request there: median ${took[10]?.toFixed(1)} ms, longest ${took[19]?.toFixed(1)} ms`)
    })

    it('do not start without the file of the password', async () => {
      const [place] = await neighbours(1)
      const failure = await failureOf(() =>
        openKas(secret.file, { ...place, redis: { url: redis.url, password: join(folder, 'nowhere') } }),
      )
      match(failure.remedy ?? '', '--redis-password')
    })

    it('take out what they have written when they end', async () => {
      const [, second] = await connected([{}, {}])
      agentAt(second, 1n, 'there')
      await isWritten(1n)
      await second.kill()
      equal(await kasOf(1n), [])
    })

    it('believe no entry of what the settings do not name, and show it nothing', async () => {
      const port = await freePort()
      let visits = 0
      const stranger = createServer((socket) => {
        visits++
        socket.destroy()
      }).listen(port, '127.0.0.1')
      closing.push(async () => stranger.close())
      const [first, second] = await connected([{ wait: seconds(3) }, {}])
      const url = `grpc://127.0.0.1:${port}`
      await redis.ask('HSET', keyOf(1n), url, String(Date.now() + 300_000))
      const answer = failureOf(() => first.router.open(1n, METHOD, {}))
      await redis.ask('PUBLISH', CHANNEL, `${url} 1`)
      is((await answer).reason, 'AgentNotConnected')
      is(visits, 0)
      // It was asked only because everybody is, in the end.
      is(await asked(second), 1)
    })

    it('serve no other agent than the one that was asked for, wherever an entry leads', async () => {
      const [first, second] = await connected([{ wait: seconds(3) }, {}])
      agentAt(second, 2n, 'two')
      await isWritten(2n)
      await redis.ask('HSET', keyOf(1n), `grpc://${second.privateApi}`, String(Date.now() + 300_000))
      is((await failureOf(() => first.router.open(1n, METHOD, {}))).reason, 'AgentNotConnected')
      equal(await ask(first.router, 2n), ['two'])
    })

    it('take no harm from what is no entry, no announcement, or no hash at all', async () => {
      const [first, second] = await connected([{}, {}])
      agentAt(second, 1n, 'there')
      await isWritten(1n)
      await redis.ask('HSET', keyOf(1n), 'nonsense', 'soon', `grpc://${second.privateApi}`, 'never')
      for (const text of ['', ' ', 'x'.repeat(100_000), `grpc://${second.privateApi} 1,x,-1,99999999999999999999`])
        await redis.ask('PUBLISH', CHANNEL, text)
      equal(await ask(first.router, 1n), ['there'])
      await redis.ask('SET', keyOf(1n), 'text')
      equal(await ask(first.router, 1n), ['there'])
    })

    it('find agents by asking everybody while there is no Redis, and write all again into one that has begun anew', async () => {
      const { log, text } = logged()
      const [first, second] = await connected([{ log }, {}])
      agentAt(first, 1n, 'here')
      agentAt(second, 2n, 'there')
      await isWritten(2n)
      await redis.kill()
      await eventually(async () => !(await isConnected(first)))
      equal([await ask(first.router, 1n), await ask(first.router, 2n)], [['here'], ['there']])
      // One that comes meanwhile.
      agentAt(second, 3n, 'new')
      equal(await ask(first.router, 3n), ['new'])
      match(text(), /"level":40[^\n]*there: Redis|"level":40[^\n]*Redis at 127\.0\.0\.1:\d+ does not answer/)
      await redis.start()
      for (const id of [1n, 2n, 3n]) await isWritten(id)
      await eventually(() => isConnected(first))
      equal(await ask(first.router, 2n), ['there'])
      match(text(), 'Redis is of use again')
    })

    it('do not wait for a Redis that hangs', async () => {
      const [first, second] = await connected([{}, {}])
      agentAt(first, 1n, 'here')
      agentAt(second, 2n, 'there')
      await isWritten(2n)
      redis.freeze()
      equal([await ask(first.router, 1n), await ask(first.router, 2n)], [['here'], ['there']])
      agentAt(second, 3n, 'new')
      equal(await ask(first.router, 3n), ['new'])
      await eventually(async () => !(await isConnected(first)))
      equal(await ask(first.router, 2n), ['there'])
      redis.resume()
      await isWritten(3n)
      await eventually(() => isConnected(first))
    })

    it('find the agents of one that does not reach Redis', async () => {
      const { log, text } = logged()
      const [first, second] = await open([{}, { redis: { url: `redis://127.0.0.1:${await freePort()}` }, log }])
      await eventually(() => isConnected(first))
      agentAt(second, 1n, 'there')
      equal(await ask(first.router, 1n), ['there'])
      equal(await kasOf(1n), [])
      await eventually(() => text().includes('RedisAway') || text().includes('does not answer'))
    })

    it('go on while Redis takes no writes, and write when it does', async () => {
      const { log, text } = logged()
      const [first, second] = await connected([{}, { log }])
      await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
      agentAt(second, 1n, 'there')
      equal(await ask(first.router, 1n), ['there'])
      await eventually(() => text().includes('has no memory left'))
      is(await redis.ask('EXISTS', keyOf(1n)), '0')
      match(await second.metrics.render(), /berth_kas_redis_failures_total\{reason="RedisFull"\} [1-9]/)
      await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
      await isWritten(1n)
      match(text(), 'Redis is of use again')
    })

    it('go on with a wrong password, say it nowhere, and take the right one when it is written into its file', async () => {
      const guarded = await startRedis({ password: 'open-sesame' })
      closing.push(() => guarded.remove())
      const password = join(folder, 'password')
      await writeFile(password, 'shut-sesame\n')
      const { log, text } = logged()
      const [first, second] = await open([
        { redis: { url: guarded.url, password }, log },
        { redis: { url: guarded.url, password }, log },
      ])
      agentAt(second, 1n, 'there')
      equal(await ask(first.router, 1n), ['there'])
      await eventually(() => text().includes('refuses the password'))
      match(await first.metrics.render(), /berth_kas_redis_failures_total\{reason="RedisPasswordWrong"\} [1-9]/)
      await writeFile(password, 'open-sesame\n')
      await eventually(async () => (await guarded.ask('EXISTS', keyOf(1n))) === '1')
      not.match(text(), 'sesame')
    })

    it('need no other rights than those that the documentation names', async () => {
      const [, rights = ''] = /^ACL SETUSER kas on \S+ (.*)$/m.exec(await readFile('docs/installation.md', 'utf8')) ?? []
      match(rights, 'hgetall')
      await redis.ask('ACL', 'SETUSER', 'kas', 'on', '>open-sesame', ...rights.split(' '))
      const password = join(folder, 'of-kas')
      await writeFile(password, 'open-sesame')
      const { log, text } = logged()
      const access = { redis: { url: redis.url, user: 'kas', password }, log }
      const [first, second] = await connected([access, access])
      const leave = agentAt(second, 1n, 'there')
      await isWritten(1n)
      equal(await ask(first.router, 1n), ['there'])
      await leave()
      await eventually(async () => (await kasOf(1n)).length === 0)
      not.match(text(), 'Redis is of no use')
    })

    it('speak TLS with a Redis whose certificate is of the authority in the settings, and with no other', async () => {
      const tls = selfSigned('127.0.0.1')
      const ca = join(folder, 'ca.crt')
      await writeFile(ca, tls.cert)
      const hidden = await startRedis({ tls })
      closing.push(() => hidden.remove())
      const { log, text } = logged()
      const [first, second] = await open([{ redis: { url: hidden.url }, log }, { redis: { url: hidden.url, ca } }])
      await eventually(() => isConnected(second))
      agentAt(second, 1n, 'there')
      await eventually(async () => (await hidden.ask('EXISTS', keyOf(1n))) === '1')
      await eventually(() => text().includes('is not trusted'))
      is(await isConnected(first), false)
      equal(await ask(first.router, 1n), ['there'])
    })
  },
  await lacksRedis(),
)
