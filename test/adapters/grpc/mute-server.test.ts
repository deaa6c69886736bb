import { createServer, type Server, type Socket } from 'node:net'
import { is, match, ok } from 'uvu/assert'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { isFailure, Secret, seconds } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { echoServer, register } from './echo.ts'

describe('a client of gRPC', (it) => {
  const closing: (() => unknown)[] = []
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  /** Takes connections, reads, and answers with this only. */
  async function mute(answer: string) {
    const sockets: Socket[] = []
    const server: Server = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined).resume()
      socket.write(answer, 'latin1')
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return { authority: `127.0.0.1:${portOf(server)}`, sockets }
  }

  const MUTE: [scheme: string, answer: string][] = [
    ['grpc', ''],
    ['grpc', '\0\0\x06\x04\0'],
    ['grpcs', ''],
    ['ws', ''],
    ['ws', 'HTTP/1.1 101 Switching'],
    ['wss', ''],
  ]
  for (const [scheme, answer] of MUTE)
    it(`gives up after 20 s on a server that says ${JSON.stringify(answer)} over ${scheme}`, async () => {
      const clock = steppedClock()
      const { authority, sockets } = await mute(answer)
      const connection = dial({ address: `${scheme}://${authority}`, clock, reconnectWithin: seconds(60) })
      closing.push(() => connection.close())
      const failing = register(connection).catch((thrown: unknown) => thrown)
      await eventually(() => sockets.length === 1 && clock.waiting() === 1)
      await clock.step(seconds(19))
      is(sockets[0]?.destroyed, false)
      await clock.step(seconds(1))
      const failure = await failing
      ok(isFailure(failure, 'unavailable'), `${failure}`)
      match(failure.message, 'has not spoken HTTP/2 within 20 s')
      await eventually(() => sockets[0]?.destroyed)
      // It may have begun to try again.
      connection.close()
      await eventually(() => clock.waiting() === 0)
    })

  for (const scheme of ['grpc', 'grpcs', 'ws', 'wss'])
    it(`keeps a connection that was answered, over ${scheme}`, async () => {
      const clock = steppedClock()
      const { cert, key } = selfSigned('127.0.0.1')
      const isPlain = scheme === 'grpc' || scheme === 'ws'
      const tls = isPlain ? undefined : { certificate: Buffer.from(cert), key: new Secret<Uint8Array>(Buffer.from(key)) }
      const server = await echoServer({ tls })
      closing.push(() => server.stop(0))
      const connection = dial({ address: `${scheme}://${server.address}`, extraCa: Buffer.from(cert), clock })
      closing.push(() => connection.close())
      await register(connection)
      is(clock.waiting(), 0)
      await clock.step(seconds(60))
      await register(connection)
      is(server.calls[0]?.peer, server.calls[1]?.peer)
    })
})
