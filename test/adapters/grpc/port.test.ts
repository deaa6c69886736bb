import { connect as connectTcp, type Socket } from 'node:net'
import { Client, compressionAlgorithms, credentials, Metadata } from '@grpc/grpc-js'
import { equal, is, match, ok } from 'uvu/assert'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { isFailure, networkOf, Secret, seconds } from '../../../src/std/index.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type EchoServer, echoServer, register, registerOnce } from './echo.ts'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const UPGRADE = [
  'GET /anywhere HTTP/1.1',
  'host: kas.test',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
]
const upgrade = (...more: string[]) => `${[...UPGRADE, ...more].join('\r\n')}\r\n\r\n`
const TUNNEL = 'sec-websocket-protocol: chat, ws-tunnel'

interface Raw {
  socket: Socket
  /** Everything that came. */
  readonly text: string
  readonly isClosed: boolean
}

function raw(address: string, bytes: string): Raw {
  const [host, port] = address.split(':')
  const socket = connectTcp({ host, port: Number(port) })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.write(bytes, 'latin1')
  return {
    socket,
    get text() {
      return text
    },
    get isClosed() {
      return socket.closed
    },
  }
}

describe('the port of gRPC', (it) => {
  const open: EchoServer[] = []
  const serve = async (...of: Parameters<typeof echoServer>) => {
    const server = await echoServer(...of)
    open.push(server)
    return server
  }
  it.afterEach(async () => {
    for (const server of open.splice(0)) await server.stop(0)
  })

  it('speaks HTTP/2, and HTTP/2 in a WebSocket at any path', async () => {
    const { address, calls, turnedAway } = await serve()
    for (const url of [address, `grpc://${address}`, `ws://${address}`, `ws://${address}/some/path?x=y`])
      await registerOnce({ address: url })
    is(calls.length, 4)
    for (const { peer } of calls) match(peer, /^127\.0\.0\.1:\d+$/)
    equal(turnedAway, [])
  })

  for (const scheme of ['grpc', 'ws'])
    it(`carries large messages both ways, in order, over ${scheme}`, async () => {
      const { address } = await serve()
      const connection = dial({ address: `${scheme}://${address}` })
      const call = await connection.duplexRaw('/x.Echo/Echo')
      const sizes = [0, 1, 65_535, 65_536, 2 ** 20, 4 * 2 ** 20 - 1, 32_768]
      const sending = (async () => {
        for (const [at, size] of sizes.entries()) await call.send(Buffer.alloc(size, at))
        call.closeSend()
      })()
      const got: string[] = []
      for await (const response of call.responses) got.push(`${response.length} ${response.at(-1)}`)
      await sending
      connection.close()
      equal(
        got,
        sizes.map((size, at) => `${size} ${size > 0 ? at : undefined}`),
      )
    })

  it('ends TLS itself, for both', async () => {
    const { cert, key } = selfSigned('kas.test', '127.0.0.1')
    const { address, calls, turnedAway } = await serve({
      tls: { certificate: Buffer.from(cert), key: new Secret<Uint8Array>(Buffer.from(key)) },
    })
    for (const scheme of ['grpcs', 'wss']) {
      const here = `${scheme}://${address}`
      await registerOnce({ address: here, extraCa: Buffer.from(cert) })
      await registerOnce({ address: here, ca: Buffer.from(cert), serverName: 'kas.test' })
    }
    is(calls.length, 4)
    for (const { peer } of calls) match(peer, /^127\.0\.0\.1:\d+$/)
    equal(turnedAway, [])
  })

  for (const scheme of ['grpcs', 'wss'])
    it(`is not believed without a certificate that is right, over ${scheme}`, async () => {
      const { cert, key } = selfSigned('kas.test')
      const { address, calls } = await serve({
        tls: { certificate: Buffer.from(cert), key: new Secret<Uint8Array>(Buffer.from(key)) },
      })
      const here = `${scheme}://${address}`
      for (const trust of [{}, { extraCa: Buffer.from(cert) }, { extraCa: Buffer.from(cert), serverName: 'other.test' }]) {
        const failure = await registerOnce({ address: here, ...trust }).catch((thrown: unknown) => thrown)
        ok(isFailure(failure, 'unavailable'), `${failure}`)
        match(failure.message, /certificate|does not match/)
      }
      is(calls.length, 0)
    })

  it('turns away what is no TLS where TLS is spoken', async () => {
    const { cert, key } = selfSigned('127.0.0.1')
    const { address, turnedAway } = await serve({
      tls: { certificate: Buffer.from(cert), key: new Secret<Uint8Array>(Buffer.from(key)) },
    })
    const client = raw(address, PREFACE)
    await eventually(() => client.isClosed)
    equal(turnedAway, ['tls'])
  })

  const SLOW: [what: string, bytes: string][] = [
    ['nothing', ''],
    ['half a preface of HTTP/2', PREFACE.slice(0, 12)],
    ['the preface and no settings', PREFACE],
    ['half a frame of settings', `${PREFACE}\0\0\x06\x04\0`],
    ['half the headers of a request', 'GET / HTTP/1.1\r\nhost: a\r\n'],
    ['nothing in its WebSocket', upgrade(TUNNEL)],
  ]
  for (const [what, bytes] of SLOW)
    it(`does not wait for a client that says ${what}`, async () => {
      const clock = steppedClock()
      const server = await serve({ clock })
      const client = raw(server.address, bytes)
      await eventually(() => server.connections === 1)
      if (what.includes('WebSocket')) await eventually(() => client.text.includes('101 Switching'))
      await clock.step(seconds(9))
      is(client.isClosed, false)
      await registerOnce({ address: server.address })
      await clock.step(seconds(2))
      await eventually(() => client.isClosed)
      equal(server.turnedAway, ['slow'])
      await eventually(() => server.connections === 0)
    })

  it('takes no more than so many connections', async () => {
    const server = await serve({ limits: { connections: 2 } })
    const clients = [raw(server.address, ''), raw(server.address, '')]
    await eventually(() => server.connections === 2)
    const third = raw(server.address, '')
    await eventually(() => third.isClosed)
    equal(server.turnedAway, ['full'])
    for (const { socket } of clients) socket.destroy()
    await eventually(() => server.connections === 0)
    await registerOnce({ address: server.address })
  })

  it('takes no more than so many of one address', async () => {
    const server = await serve({ limits: { connectionsPerAddress: 1 } })
    const first = raw(server.address, '')
    await eventually(() => server.connections === 1)
    const second = raw(server.address, '')
    await eventually(() => second.isClosed)
    equal(server.turnedAway, ['address-full'])
    first.socket.destroy()
  })

  const NETWORKS: [address: string, network: string][] = [
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:0:0::1', '2001:db8:0:0'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['fe80::1%br-lan.7', 'fe80:0:0:0'],
    ['10.1', '10.1'],
    ['', ''],
  ]
  for (const [address, network] of NETWORKS)
    it(`counts ${address} as ${network}`, () => {
      is(networkOf(address), network)
    })

  const REFUSED: [what: string, request: string, status: string][] = [
    ['a page', 'GET / HTTP/1.1\r\nhost: kas.test\r\n\r\n', '426'],
    ['a WebSocket without a subprotocol', upgrade(), '400'],
    ['another subprotocol', upgrade('sec-websocket-protocol: chat'), '400'],
    ['a WebSocket for a page from elsewhere', upgrade(TUNNEL, 'origin: https://evil.test'), '403'],
    ['a WebSocket of another version', upgrade(TUNNEL).replace('version: 13', 'version: 7'), '400'],
    ['another protocol', upgrade(TUNNEL).replace('upgrade: websocket', 'upgrade: h2c'), '400'],
  ]
  for (const [what, request, status] of REFUSED)
    it(`refuses who asks for ${what}`, async () => {
      const server = await serve()
      const client = raw(server.address, request)
      await eventually(() => client.isClosed)
      match(client.text, `HTTP/1.1 ${status} `)
      equal(server.turnedAway, ['upgrade'])
    })

  const BROKEN: [what: string, bytes: string, why: string[]][] = [
    ['headers of a request without end', `GET / HTTP/1.1\r\nx: ${'x'.repeat(17 * 2 ** 10)}`, ['protocol']],
    ['no HTTP', 'hello\r\n\r\n', ['protocol']],
    // Node ends these two by itself and tells nobody.
    ['a frame that is too long', `${PREFACE}\xff\xff\xff\x04\0\0\0\0\0`, []],
    ['data of a stream that is not open', `${PREFACE}\0\0\0\x04\0\0\0\0\0\0\0\x01\0\0\0\0\0\x01x`, []],
  ]
  for (const [what, bytes, why] of BROKEN)
    it(`ends a connection that sends ${what}`, async () => {
      const server = await serve()
      const client = raw(server.address, bytes)
      await eventually(() => client.isClosed)
      equal(server.turnedAway, why)
      await registerOnce({ address: server.address })
    })

  it('forgets a connection that ends in the middle of a frame', async () => {
    const server = await serve()
    const client = raw(server.address, `${PREFACE}\0\0\0\x04\0\0\0\0\0\0\0\x10\x01`)
    await eventually(() => client.text !== '')
    client.socket.destroy()
    await eventually(() => server.connections === 0)
    await registerOnce({ address: server.address })
  })

  it('refuses messages that are too large, also when they were small on the way', async () => {
    const { address, calls } = await serve()
    const client = new Client(address, credentials.createInsecure(), {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    })
    const codeOf = async (size: number) => {
      const call = client.makeBidiStreamRequest(
        '/x.Echo/Echo',
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        new Metadata(),
      )
      call.on('error', () => undefined)
      call.resume()
      call.end(Buffer.alloc(size))
      return new Promise((resolve) => call.once('status', ({ code }) => resolve(code)))
    }
    is(await codeOf(4 * 2 ** 20), 0)
    is(await codeOf(4 * 2 ** 20 + 1), 8)
    is(await codeOf(128 * 2 ** 20), 8)
    client.close()
    ok(calls.length === 3)
  })

  it('refuses calls whose headers are too large, and goes on with the others of the connection', async () => {
    const { address } = await serve()
    const connection = dial({ address })
    const call = await connection.duplexRaw('/x.Echo/Echo', { metadata: { large: ['x'.repeat(20_000)] } })
    const failure = await call.responses[Symbol.asyncIterator]()
      .next()
      .catch((thrown: unknown) => thrown)
    ok(isFailure(failure), `${failure}`)
    await register(connection)
    connection.close()
  })
})
