import { once } from 'node:events'
import { equal, is, match, ok } from 'uvu/assert'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type EchoServer, echoServer, register, registerOnce } from './echo.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')

describe('gRPC in a WebSocket', (it) => {
  let server: EchoServer
  it.beforeEach(async () => {
    server = await echoServer()
  })
  it.afterEach(() => server.stop(0))

  /** As a browser would have it, so no more than what anybody can send. */
  const connected = async () => {
    const socket = new WebSocket(`ws://${server.address}/`, 'ws-tunnel')
    socket.binaryType = 'arraybuffer'
    const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
    await once(socket, 'open')
    return { socket, closed }
  }

  it('is taken whatever the borders of its messages are', async () => {
    const { socket, closed } = await connected()
    const answered = once(socket, 'message')
    for (const byte of PREFACE) socket.send(Buffer.of(byte))
    await answered
    socket.close(1000)
    is(await closed, 1000)
    await eventually(() => server.connections === 0)
    equal(server.turnedAway, [])
  })

  it('ends at a text message, and no other connection does', async () => {
    const other = dial({ address: `ws://${server.address}` })
    await register(other)
    const { socket, closed } = await connected()
    socket.send(PREFACE)
    socket.send('hello')
    ok((await closed) !== 1000)
    equal(server.turnedAway, ['protocol'])
    await register(other)
    other.close()
  })

  it('ends at a message of more than 10 MiB', async () => {
    const { socket, closed } = await connected()
    socket.send(PREFACE)
    socket.send(Buffer.alloc(10 * 2 ** 20 + 1))
    ok((await closed) !== 1000)
    equal(server.turnedAway, ['protocol'])
  })

  it('ends when what is in it is no HTTP/2', async () => {
    const { socket, closed } = await connected()
    socket.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    await closed
    await eventually(() => server.connections === 0)
    await registerOnce({ address: `ws://${server.address}` })
  })

  it('writes no faster than the caller reads', async () => {
    const connection = dial({ address: `ws://${server.address}` })
    const call = await connection.duplexRaw('/x.Echo/Echo')
    let sent = 0
    let isOver = false
    void call.trailer.then(() => {
      isOver = true
    })
    const sending = (async () => {
      for (; sent < 2000 && !isOver; sent++) await call.send(Buffer.alloc(32 * 2 ** 10))
    })()
    // Whatever is on its way has come when others have come and gone, and it is still.
    for (let still = 0, before = -1; still < 20 && sent < 2000; still = sent === before ? still + 1 : 0) {
      before = sent
      await register(connection)
    }
    // After its end `send` does nothing, so that all would be taken: the responses say why it ended.
    if (isOver) for await (const response of call.responses) void response
    is(isOver, false)
    ok(sent < 2000, `${sent} of 2,000 messages were taken for a caller that reads none`)
    call.cancel()
    await sending
    connection.close()
  })

  it('carries the headers of those in between, which are metadata elsewhere', async () => {
    const headers = { 'X-Passage': ['a', 'b'] }
    await registerOnce({ address: server.address, headers, userAgent: 'berth-agent/1' })
    equal(server.calls[0]?.text['x-passage'], ['a,b'])
    match(server.calls[0]?.metadata('user-agent') ?? '', /^berth-agent\/1 /)
    await registerOnce({ address: `ws://${server.address}`, headers, userAgent: 'berth-agent/1' })
    is(server.calls[1]?.text['x-passage'], undefined)
  })

  it('is told from what is none by the answer', async () => {
    const failure = await registerOnce({ address: `ws://${server.address}`, headers: { origin: ['https://evil.test'] } }).catch(
      (thrown: unknown) => thrown,
    )
    ok(isFailure(failure, 'unavailable'), `${failure}`)
    match(failure.message, '403')
  })
})
