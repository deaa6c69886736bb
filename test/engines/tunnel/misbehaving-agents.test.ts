import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { equal, is, match, ok } from 'uvu/assert'
import type { Duplex, GrpcConnection } from '../../../src/adapters/grpc/index.ts'
import { request } from '../../../src/engines/tunnel/index.ts'
import { type ConnectRequest, ConnectRequestSchema, type ConnectResponse, ReverseTunnel } from '../../../src/rpc/index.ts'
import { Failure, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { bytes, ECHO, endOf, type Stage, setStage, textsOf } from './tunnel-stage.ts'

type Said = NonNullable<MessageInitShape<typeof ConnectRequestSchema>['msg']>

const DESCRIPTOR: Said = {
  case: 'descriptor',
  value: { agentDescriptor: { services: [{ name: 'x.Echo', methods: [{ name: 'Echo' }] }] } },
}
const HEADER: Said = { case: 'header', value: {} }
const MESSAGE: Said = { case: 'message', value: { data: bytes('hi') } }
const TRAILER: Said = { case: 'trailer', value: {} }
const ERROR: Said = { case: 'error', value: { status: { code: 5, message: 'gone' } } }

describe('agents that speak for themselves', (it) => {
  let stage: Stage
  let connection: GrpcConnection
  it.before(async () => {
    stage = await setStage()
    connection = stage.connect()
  })
  it.after(() => stage.close())

  /** A tunnel, and what its agent says at once. */
  async function open(...said: Said[]): Promise<Duplex<ConnectRequest, ConnectResponse>> {
    const call = await connection.duplex(ReverseTunnel.method.connect)
    for (const msg of said) await call.send(create(ConnectRequestSchema, { msg }))
    return call
  }
  /** How kas ends a tunnel. */
  async function verdict(call: Duplex<ConnectRequest, ConnectResponse>): Promise<unknown> {
    try {
      for await (const _ of call.responses);
      return 0
    } catch (thrown) {
      return thrown instanceof Error && thrown.cause instanceof Error && 'code' in thrown.cause ? thrown.cause.code : thrown
    }
  }
  /** Asks, lets the agent answer this and half-close; how the request and the tunnel ended. */
  async function answered(...said: Said[]) {
    const agent = await open(DESCRIPTOR)
    const call = await stage.ask()
    const responses = agent.responses[Symbol.asyncIterator]()
    await responses.next()
    for (const msg of said) await agent.send(create(ConnectRequestSchema, { msg }))
    agent.closeSend()
    const caller = await endOf(call)
    const rest = { ...agent, responses: { [Symbol.asyncIterator]: () => responses } }
    return { caller, tunnel: await verdict(rest) }
  }

  it('must begin with the descriptor', async () => {
    for (const wrong of [HEADER, MESSAGE, TRAILER, ERROR]) is(await verdict(await open(wrong)), 3)
    is(await verdict(await open({ case: 'descriptor', value: {} })), 3)
    const nameless = { agentDescriptor: { services: [{ name: '', methods: [{ name: 'x' }] }] } }
    is(await verdict(await open({ case: 'descriptor', value: nameless })), 3)
    const empty = await connection.duplex(ReverseTunnel.method.connect)
    await empty.send(create(ConnectRequestSchema))
    is(await verdict(empty), 3)
  })

  it('may not send more metadata than could be passed on; who reads only messages hears of it too', async () => {
    const meta = { large: { value: ['x'.repeat(9000)] } }
    for (const said of [
      [{ case: 'header', value: { meta } }, TRAILER],
      [HEADER, { case: 'trailer', value: { meta } }],
    ] satisfies Said[][]) {
      const { caller } = await answered(...said)
      equal([caller.code, caller.reason], ['unavailable', 'AnswerBroken'])
    }
  })

  it('may not answer before they are asked', async () => {
    for (const wrong of [DESCRIPTOR, HEADER, ERROR]) is(await verdict(await open(DESCRIPTOR, wrong)), 3)
  })

  it('may leave while nothing is asked', async () => {
    const call = await open(DESCRIPTOR)
    await eventually(() => stage.tunnels.count.idle === 1)
    call.closeSend()
    is(await verdict(call), 0)
    is(stage.tunnels.count.idle, 0)
  })

  it('may say that it failed at once, as those of 14.1 do', async () => {
    const { caller, tunnel } = await answered(ERROR)
    is(caller.code, 5)
    is(tunnel, 0)
  })

  it('are refused when they answer out of order, and the caller hears of it', async () => {
    const sentences: [why: string, said: Said[]][] = [
      ['no trailer', [HEADER, MESSAGE]],
      ['nothing at all', []],
      ['message before the header', [MESSAGE]],
      ['two headers', [HEADER, HEADER]],
      ['a message after the trailer', [HEADER, TRAILER, MESSAGE]],
      ['an error without a trailer', [HEADER, ERROR]],
      ['two errors', [HEADER, TRAILER, ERROR, ERROR]],
      ['a second descriptor', [DESCRIPTOR]],
    ]
    for (const [why, said] of sentences) {
      const { caller, tunnel } = await answered(...said)
      is(caller.reason, 'AnswerBroken', why)
      is(tunnel, 3, why)
    }
  })

  it('cannot make an error look like success', async () => {
    const { caller } = await answered(HEADER, TRAILER, { case: 'error', value: {} })
    is(caller.code, 2)
  })

  it('that are cut off end the request as unavailable', async () => {
    const agent = await open(DESCRIPTOR)
    const call = await stage.ask()
    await agent.send(create(ConnectRequestSchema, { msg: HEADER }))
    await call.header
    agent.cancel()
    equal((await endOf(call)).reason, 'AgentGone')
  })

  it('that lose a tunnel before its request is made do not hold up the caller', async () => {
    const agent = await open(DESCRIPTOR)
    const taken = await eventually(() => stage.tunnels.take(7n, ECHO))
    agent.cancel()
    await eventually(() => stage.tunnels.count.open === 0)
    const call = request(taken, ECHO)
    await call.send(bytes('x'))
    is((await endOf(call)).reason, 'AgentGone')
  })

  it('are not believed to send more than gRPC takes', async () => {
    const agent = await open(DESCRIPTOR)
    const call = await stage.ask()
    await agent.send(create(ConnectRequestSchema, { msg: HEADER }))
    await agent.send(create(ConnectRequestSchema, { msg: { case: 'message', value: { data: new Uint8Array(5 * 2 ** 20) } } }))
    is((await endOf(call)).reason, 'AgentGone')
    ok((await verdict(agent)) !== 0)
  })

  it('are cut short when they send more metadata than peers take', async () => {
    const meta = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key-${n}`, { value: ['x'.repeat(100)] }]))
    const { caller } = await answered(HEADER, { case: 'trailer', value: { meta } })
    match(caller.message, 'larger than 8192')
  })

  it('whose right has ended lose their tunnels and requests at that moment', async () => {
    const other = await setStage()
    const theirs = other.connect()
    const idle = await theirs.duplex(ReverseTunnel.method.connect)
    await idle.send(create(ConnectRequestSchema, { msg: DESCRIPTOR }))
    const call = await other.ask()
    const waiting = await theirs.duplex(ReverseTunnel.method.connect)
    await waiting.send(create(ConnectRequestSchema, { msg: DESCRIPTOR }))
    await eventually(() => other.tunnels.count.idle === 1)
    other.revoked.abort(new Failure('unauthorized', 'the token is no longer valid', { reason: 'TokenRevoked' }))
    is((await endOf(call)).reason, 'TokenRevoked')
    is(await verdict(waiting), 16)
    is(await verdict(idle), 16)
    const late = await theirs.duplex(ReverseTunnel.method.connect)
    await late.send(create(ConnectRequestSchema, { msg: DESCRIPTOR }))
    is(await verdict(late), 16)
    is(other.tunnels.count.idle, 0)
    await other.close()
  })

  it('that say nothing hold no tunnel longer than their right, nor than 15 s', async () => {
    const clock = steppedClock()
    const other = await setStage({ clock })
    const theirs = other.connect()
    const slow = verdict(await theirs.duplex(ReverseTunnel.method.connect))
    await eventually(() => other.tunnels.count.open === 1)
    await clock.step(seconds(14))
    is(other.tunnels.count.open, 1)
    await clock.step(seconds(1))
    is(await slow, 4)
    const silent = Array.from({ length: 20 }, async () => verdict(await theirs.duplex(ReverseTunnel.method.connect)))
    await eventually(() => other.tunnels.count.open === 20)
    other.revoked.abort(new Failure('unauthorized', 'the token is no longer valid', { reason: 'TokenRevoked' }))
    for (const end of silent) is(await end, 16)
    equal([other.tunnels.count.open, clock.waiting()], [0, 0])
    await other.close()
  })

  it('hear nothing but what kas says: a request, and the half-close', async () => {
    const agent = await open(DESCRIPTOR)
    const call = await stage.ask()
    await call.send(bytes('x'))
    call.closeSend()
    for (const msg of [HEADER, MESSAGE, TRAILER]) await agent.send(create(ConnectRequestSchema, { msg }))
    agent.closeSend()
    equal(await textsOf(call), ['hi'])
    const kinds: unknown[] = []
    for await (const { msg } of agent.responses) kinds.push(msg.case)
    equal(kinds, ['requestInfo', 'message', 'closeSend'])
  })
})
