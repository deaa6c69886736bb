import { create } from '@bufbuild/protobuf'
import { equal, is, ok } from 'uvu/assert'
import { CallEnded, dial, type GrpcServer, offer, offerRaw, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { AgentRegistrar, RegisterRequestSchema, RegisterResponseSchema } from '../../../src/rpc/generated/agent_registrar_pb.ts'
import { createLog, isFailure, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const log = createLog('silent', { write: () => undefined })
const bytes = (text: string) => Buffer.from(text)

describe('gRPC calls', (it) => {
  let server: GrpcServer
  let registered: bigint[] = []
  const ended: string[] = []

  it.before(async () => {
    const registrar = offer(AgentRegistrar, {
      async register({ podId }, call) {
        if (podId === 0n) throw new CallEnded(9, 'no pod')
        registered.push(podId)
        call.setTrailer({ seen: ['1', '2'] })
        return create(RegisterResponseSchema)
      },
    })
    const echo = offerRaw(['/x.Echo/Echo', '/x.Echo/Fail', '/x.Echo/Wait'], async function* (requests, call) {
      call.accept({ mine: call.text.mine ?? [] })
      call.setTrailer({ end: ['yes'] })
      try {
        for await (const request of requests) {
          yield request
          if (String(request) === 'fail') throw new CallEnded(11, 'as you wish')
        }
        yield bytes('end')
      } catch (thrown) {
        ended.push(isFailure(thrown) ? thrown.code : 'ended')
        throw thrown
      }
    })
    server = await serveGrpc({ address: '127.0.0.1:0', services: [registrar, echo], clock: systemClock, log })
  })
  it.after(() => server.stop(0))

  const dialed = () => dial({ address: server.address })

  it('answers a single request', async () => {
    const connection = dialed()
    registered = []
    await connection.unary(AgentRegistrar.method.register, create(RegisterRequestSchema, { podId: 7n }))
    equal(registered, [7n])
    connection.close()
  })

  it('ends a single request with the very status that was asked for', async () => {
    const connection = dialed()
    try {
      await connection.unary(AgentRegistrar.method.register, create(RegisterRequestSchema))
      ok(false)
    } catch (thrown) {
      ok(isFailure(thrown, 'invalid') && thrown.cause instanceof Error && 'code' in thrown.cause && thrown.cause.code === 9)
    }
    connection.close()
  })

  it('brings messages both ways, the half-close, headers and trailers', async () => {
    const connection = dialed()
    const call = await connection.duplexRaw('/x.Echo/Echo', { metadata: { mine: ['a', 'b'] } })
    await call.send(bytes('one'))
    call.closeSend()
    const got: string[] = []
    for await (const response of call.responses) got.push(String(response))
    equal(got, ['one', 'end'])
    equal((await call.header).mine?.join(), 'a, b')
    equal((await call.trailer).end, ['yes'])
    connection.close()
  })

  it('brings an error after messages, with its code', async () => {
    const connection = dialed()
    const call = await connection.duplexRaw('/x.Echo/Fail')
    await call.send(bytes('fail'))
    const got: string[] = []
    try {
      for await (const response of call.responses) got.push(String(response))
      ok(false)
    } catch (thrown) {
      ok(isFailure(thrown) && thrown.cause instanceof Error && 'code' in thrown.cause && thrown.cause.code === 11)
    }
    equal(got, ['fail'])
    equal((await call.trailer).end, ['yes'])
    connection.close()
  })

  it('tells one who reads when all is over why it failed', async () => {
    const connection = dialed()
    const call = await connection.duplexRaw('/x.Echo/Nowhere')
    await call.trailer
    const failure = await (async () => {
      for await (const response of call.responses) ok(false, String(response))
    })().catch((thrown: unknown) => thrown)
    ok(isFailure(failure, 'not-found'), `${failure}`)
    connection.close()
  })

  it('tells the handler that waits for a request that the caller is gone', async () => {
    const connection = dialed()
    ended.length = 0
    const call = await connection.duplexRaw('/x.Echo/Wait')
    await call.send(bytes('one'))
    for await (const response of call.responses) {
      is(String(response), 'one')
      break
    }
    await eventually(() => ended.length === 1)
    equal(ended, ['cancelled'])
    connection.close()
  })
})
