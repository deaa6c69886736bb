import { equal, is, match, ok } from 'uvu/assert'
import { CallEnded } from '../../../src/adapters/grpc/index.ts'
import type { TunnelHandler } from '../../../src/engines/tunnel/index.ts'
import { createLog, pause, seconds, systemClock } from '../../../src/std/index.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ask, connectAgent, type Kas, METHOD, named, neighbours, openKas, secretFile, textsOf } from './kas-stage.ts'

describe('routing between kas', (it) => {
  let secret: Awaited<ReturnType<typeof secretFile>>
  const all: Kas[] = []
  const leave: (() => Promise<void>)[] = []
  it.before(async () => {
    secret = await secretFile()
    for (const where of await neighbours(3)) all.push(await openKas(secret.file, where))
  })
  it.after(async () => {
    for (const one of leave) await one()
    for (const kas of all) await kas.kill()
    await secret.remove()
  })
  const kas = (n: number): Kas => {
    const one = all[n]
    ok(one)
    return one
  }

  it('makes a request where the agent is connected, whoever is asked', async () => {
    leave.push(connectAgent(kas(1), 1n, named('one')))
    for (const { router } of all) equal(await ask(router, 1n, 'a', 'b'), ['one', 'a', 'b'])
    const call = await kas(0).router.open(1n, METHOD, {})
    call.closeSend()
    await textsOf(call)
    equal((await call.trailer).by, ['one'])
  })

  it('prefers its own tunnels', async () => {
    leave.push(connectAgent(kas(0), 2n, named('here')), connectAgent(kas(1), 2n, named('there')))
    await eventually(async () => (await ask(kas(0).router, 2n)).join() === 'here')
    for (let n = 0; n < 5; n++) equal(await ask(kas(0).router, 2n), ['here'])
    ok(['here', 'there'].includes((await ask(kas(2).router, 2n)).join()))
  })

  it('brings the status of the agent through another kas', async () => {
    leave.push(
      connectAgent(kas(1), 3n, async function* () {
        yield Buffer.from('so far')
        throw new CallEnded(9, 'no further')
      }),
    )
    const call = await kas(0).router.open(3n, METHOD, {})
    const failure = await failureOf(() => textsOf(call))
    ok(failure.cause instanceof Error && 'code' in failure.cause)
    is(failure.cause.code, 9)
  })

  it('wakes a request the moment its agent connects, to this kas or to another', async () => {
    for (const [n, id] of [
      [0, 10n],
      [1, 11n],
    ] as const) {
      const answer = ask(kas(0).router, id, 'hello').then((texts) => ({ texts, at: performance.now() }))
      await pause(systemClock, 300)
      let asked = 0
      const leaveIt = connectAgent(kas(n), id, async function* (requests) {
        asked = performance.now()
        yield* requests
      })
      leave.push(leaveIt)
      const answered = await answer
      equal(answered.texts, ['hello'])
      // Polls of 50 ms would show here; the time itself is only printed.
      process.stdout.write(`  asked ${(answered.at - asked).toFixed(1)} ms before its answer was read, at kas ${n}\n`)
    }
  })

  it('gives each of many requests to exactly one of the kas that have the agent', async () => {
    let served = 0
    for (const one of all)
      leave.push(
        connectAgent(one, 4n, async function* (requests) {
          served++
          yield* requests
        }),
      )
    const asked = Array.from({ length: 100 }, (_, n) => ask(kas(n % 3).router, 4n, String(n)))
    equal(
      (await Promise.all(asked)).flat(),
      asked.map((_, n) => String(n)),
    )
    is(served, 100)
  })

  it('says that no agent has connected when time is up, and gives up when nobody waits', async () => {
    const impatient = await openKas(secret.file, { wait: 50 })
    const failure = await failureOf(() => impatient.router.open(99n, METHOD, {}))
    is(failure.code, 'timeout')
    is(failure.reason, 'AgentNotConnected')
    const leaving = new AbortController()
    const opening = failureOf(() => kas(0).router.open(98n, METHOD, { signal: leaving.signal }))
    leaving.abort()
    is((await opening).code, 'cancelled')
    await impatient.kill()
  })

  it('tells once that another kas does not believe it, and says so to who waits in vain', async () => {
    const stranger = await secretFile()
    const told: string[] = []
    const log = createLog('warn', { write: (line) => told.push(line) })
    const other = await openKas(stranger.file)
    const doubted = await openKas(secret.file, { peers: [`grpc://${other.privateApi}`], wait: 400, log })
    const leaveIt = connectAgent(other, 7n, named('seven'))
    await eventually(async () => (await ask(other.router, 7n)).join() === 'seven')
    for (let n = 0; n < 2; n++) {
      // The other one may take longer to refuse than somebody waits.
      await eventually(async () => {
        const failure = await failureOf(() => doubted.router.open(7n, METHOD, {}))
        match(failure.message, 'another kas that may have it does not believe this one')
        match(failure.remedy ?? '', '--private-api-secret')
        return true
      })
    }
    is(told.filter((line) => line.includes('Another kas did not answer')).length, 1)
    match(await doubted.metrics.render(), /^berth_kas_peer_failures_total\{code="unauthorized"\} \d/m)
    await leaveIt()
    await doubted.kill()
    await other.kill()
    await stranger.remove()
  })

  it('cancels at the agent what its caller cancels at another kas', async () => {
    let cancelled = 0
    leave.push(
      connectAgent(kas(1), 5n, async function* (_, { signal }) {
        yield Buffer.from('begun')
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
        })
        cancelled++
      }),
    )
    const call = await kas(2).router.open(5n, METHOD, {})
    const responses = call.responses[Symbol.asyncIterator]()
    await responses.next()
    call.cancel()
    await eventually(() => cancelled === 1)
  })

  it('ends open requests as unavailable when a kas is killed, and finds the agent where it goes', async () => {
    const second = await openKas(secret.file)
    const first = await openKas(secret.file, { peers: [`grpc://${second.privateApi}`] })
    const waiting: TunnelHandler = async function* (_, { signal }) {
      yield Buffer.from('begun')
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve)
      })
    }
    leave.push(connectAgent(second, 6n, waiting))
    const calls = await Promise.all(Array.from({ length: 100 }, () => first.router.open(6n, METHOD, {})))
    const ends = calls.map((call) => failureOf(() => textsOf(call)))
    await Promise.all(calls.map(({ header }) => header))
    await second.kill()
    for (const end of ends) is((await end).code, 'unavailable')
    const leaveIt = connectAgent(first, 6n, named('moved'))
    equal(await ask(first.router, 6n), ['moved'])
    await leaveIt()
    await first.kill()
  })

  it('finds agents through peers that are named, when they come late', async () => {
    const lonely = await openKas(secret.file)
    const router = await openKas(secret.file, { peers: [`grpc://${lonely.privateApi}`], wait: seconds(20) })
    const asked = ask(router.router, 7n, 'x')
    const leaveIt = connectAgent(lonely, 7n, named('late'))
    equal(await asked, ['late', 'x'])
    await leaveIt()
    await router.kill()
    await lonely.kill()
  })
})
