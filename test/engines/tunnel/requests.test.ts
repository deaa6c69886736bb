import { equal, is, match, ok } from 'uvu/assert'
import { CallEnded } from '../../../src/adapters/grpc/index.ts'
import { MESSAGE_BYTES } from '../../../src/engines/tunnel/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { bytes, ECHO, echo, endOf, type Stage, setStage, textsOf } from './tunnel-stage.ts'

describe('requests through tunnels', (it) => {
  let stage: Stage
  const heard: string[] = []

  it.before(async () => {
    stage = await setStage()
    stage.agent({
      [ECHO]: echo,
      async *'/x.Echo/FailAtOnce'() {
        yield* []
        throw new CallEnded(9, 'not today')
      },
      async *'/x.Echo/FailLater'(requests, call) {
        call.setTrailer({ end: ['bad'] })
        for await (const one of requests) yield one
        throw new CallEnded(11, 'out of range')
      },
      async *'/x.Echo/Silent'(requests, { signal }) {
        signal.addEventListener('abort', () => heard.push('cancelled'))
        for await (const one of requests) yield one
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve())
        })
      },
      async *'/x.Echo/Early'() {
        yield bytes('I know already')
      },
      async *'/x.Echo/Large'(requests) {
        for await (const one of requests) yield new Uint8Array(Number(Buffer.from(one).toString()))
      },
      async *'/x.Echo/LargeHeader'(_, call) {
        call.accept({ large: ['x'.repeat(9000)] })
        yield bytes('not reached')
      },
      async *'/x.Echo/LargeTrailer'(requests, call) {
        call.setTrailer({ large: ['x'.repeat(9000)] })
        yield* requests
      },
      async *'/x.Echo/LargeTrailerOfFailure'(_, call) {
        call.setTrailer({ large: ['x'.repeat(9000)] })
        yield* []
        throw new CallEnded(9, 'not today')
      },
      async *'/x.Echo/Meta'(_, call) {
        yield bytes(JSON.stringify(call.metadata))
      },
    })
  })
  it.after(() => stage.close())

  it('bring messages both ways, half-close, header and trailer', async () => {
    const call = await stage.ask(ECHO, { metadata: { mine: ['a'] } })
    await call.send(bytes('one'))
    await call.send(bytes('two'))
    equal((await call.header).mine, ['a'])
    call.closeSend()
    equal(await textsOf(call), ['one', 'two'])
    equal((await call.trailer).end, ['yes'])
  })

  it('end with the very status of the agent, also before its first message', async () => {
    const call = await stage.ask('/x.Echo/FailAtOnce')
    call.closeSend()
    const end = await endOf(call)
    is(end.code, 9)
    match(end.message, 'not today')
  })

  it('end with a status and the trailer after messages', async () => {
    const call = await stage.ask('/x.Echo/FailLater')
    await call.send(bytes('one'))
    call.closeSend()
    is((await endOf(call)).code, 11)
    equal((await call.trailer).end, ['bad'])
  })

  it('may be answered before they are read', async () => {
    const call = await stage.ask('/x.Echo/Early')
    equal(await textsOf(call), ['I know already'])
    await call.send(bytes('too late'))
  })

  it('that are cancelled are cancelled at the agent', async () => {
    heard.length = 0
    const call = await stage.ask('/x.Echo/Silent')
    await call.send(bytes('one'))
    const responses = call.responses[Symbol.asyncIterator]()
    await responses.next()
    call.cancel()
    await eventually(() => heard.includes('cancelled'))
  })

  it('that are cancelled by their signal end with that', async () => {
    const leaving = new AbortController()
    const call = await stage.ask('/x.Echo/Silent', { signal: leaving.signal })
    leaving.abort()
    is((await endOf(call)).code, 'cancelled')
  })

  it('take the largest message that gRPC takes, and refuse a larger one with its size', async () => {
    const large = await stage.ask()
    await large.send(new Uint8Array(MESSAGE_BYTES))
    large.closeSend()
    let size = 0
    for await (const message of large.responses) size += message.length
    is(size, MESSAGE_BYTES)
    const tooLarge = await stage.ask()
    await tooLarge.send(new Uint8Array(MESSAGE_BYTES + 1))
    is((await endOf(tooLarge)).reason, 'MessageTooLarge')
    const answer = await stage.ask('/x.Echo/Large')
    await answer.send(bytes(String(MESSAGE_BYTES + 1)))
    const { reason, message } = await endOf(answer)
    // For what reason kas fails, agents do not say.
    is(reason, undefined)
    match(message, new RegExp(`has ${MESSAGE_BYTES + 1} bytes`))
  })

  it('carry no metadata that belongs to the hop, is binary, or says who the caller is', async () => {
    const metadata = {
      ':authority': ['kas'],
      authorization: ['Bearer x'],
      'content-type': ['application/grpc'],
      'user-agent': ['a'],
      'kas-hop-routing-agent-id': ['7'],
      'grpc-timeout': ['1S'],
      'berth-reason': ['AgentNotConnected'],
      'some-bin': ['x'],
      umlaut: ['ä'],
      'Upper-Case': ['x'],
      traceparent: ['00-1'],
      twice: ['1', '2'],
    }
    const call = await stage.ask('/x.Echo/Meta', { metadata })
    call.closeSend()
    equal(JSON.parse((await textsOf(call)).join()), { traceparent: ['00-1'], twice: ['1', '2'] })
  })

  it('fail for a header or a trailer that cannot travel, and cost no tunnel', async () => {
    for (const path of ['/x.Echo/LargeHeader', '/x.Echo/LargeTrailer']) {
      for (let n = 0; n < 10; n++) {
        const call = await stage.ask(path)
        call.closeSend()
        match((await endOf(call)).message, 'the metadata of the answer is larger than 8192 characters')
      }
    }
    const failed = await stage.ask('/x.Echo/LargeTrailerOfFailure')
    is((await endOf(failed)).code, 9)
    const large = { metadata: { large: ['x'.repeat(9000)] } }
    for (let n = 0; n < 3; n++) {
      const thrown = await stage.ask(ECHO, large).catch((failure: Error) => failure.message)
      is(thrown, 'the metadata is larger than 8192 characters')
    }
    await eventually(() => stage.tunnels.count.idle > 0 && stage.tunnels.count.open === stage.tunnels.count.idle)
    const call = await stage.ask()
    call.closeSend()
    equal(await textsOf(call), [])
  })

  it('find tunnels although there are hundreds of them at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        const call = await stage.ask()
        await call.send(bytes(String(n)))
        call.closeSend()
        return textsOf(call)
      }),
    )
    equal(
      all.flat(),
      Array.from({ length: 300 }, (_, n) => String(n)),
    )
    ok(stage.tunnels.count.open < 500)
  })
})
