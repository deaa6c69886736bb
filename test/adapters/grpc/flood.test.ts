import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { equal, is, ok } from 'uvu/assert'
import { parseAddress } from '../../../src/adapters/grpc/address.ts'
import { credentialsFor } from '../../../src/adapters/grpc/credentials.ts'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { seconds } from '../../../src/std/index.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type EchoServer, echoServer, register } from './echo.ts'

interface Client {
  session: ClientHttp2Session
  /** What the server said at the end. */
  readonly goaway: string | undefined
  readonly isClosed: boolean
}

async function clientOf(address: string, scheme: 'grpc' | 'ws' = 'grpc'): Promise<Client> {
  const [host, port] = address.split(':')
  const socket = connectTcp({ host, port: Number(port) })
  const credentials = credentialsFor(parseAddress(`${scheme}://${address}`), {}, {}, steppedClock())
  const { socket: stream } = await credentials._createSecureConnector({ path: address }, {}).connect(socket)
  const session = connect(`http://${address}`, { createConnection: () => stream })
  let goaway: string | undefined
  session.on('goaway', (code, _last, data) => {
    goaway = `${code} ${data ? Buffer.from(data).toString() : ''}`
  })
  session.on('error', () => undefined)
  await once(session, 'remoteSettings')
  return {
    session,
    get goaway() {
      return goaway
    },
    get isClosed() {
      return session.destroyed
    },
  }
}

const ping = ({ session }: Client): Promise<boolean> =>
  new Promise((resolve) => {
    if (session.destroyed || !session.ping((error) => resolve(!error))) resolve(false)
  })

const open = ({ session }: Client, path: string, contentType = 'application/grpc') =>
  session.request({ ':method': 'POST', ':path': path, 'content-type': contentType, te: 'trailers' }).on('error', () => undefined)

const CALM = `${constants.NGHTTP2_ENHANCE_YOUR_CALM} too_many_pings`

describe('a flood', (it) => {
  let clock: SteppedClock
  let server: EchoServer
  it.beforeEach(async () => {
    clock = steppedClock()
    server = await echoServer({ clock, limits: { resets: { burst: 100, perSecond: 10 } } })
  })
  it.afterEach(async () => {
    await server.stop(0)
  })

  it('of pings ends its connection and no other', async () => {
    const other = dial({ address: server.address })
    await register(other)
    const client = await clientOf(server.address)
    for (let early = 0; early < 3; early++) ok(await ping(client))
    await ping(client)
    await eventually(() => client.isClosed)
    is(client.goaway, CALM)
    equal(server.turnedAway, ['pings'])
    await register(other)
    await eventually(() => server.connections === 1)
    other.close()
  })

  it('of pings that come all at once is one too', async () => {
    const client = await clientOf(server.address)
    await ping(client)
    await Promise.all(Array.from({ length: 9 }, () => ping(client)))
    await eventually(() => client.isClosed)
    equal(server.turnedAway, ['pings'])
  })

  it('is not made of pings in good time', async () => {
    const client = await clientOf(server.address)
    for (let minute = 0; minute < 6; minute++) {
      ok(await ping(client))
      await clock.step(seconds(20))
    }
    client.session.close()
    await eventually(() => client.isClosed)
    equal(server.turnedAway, [])
  })

  it('is not made of pings that measure how fast we send', async () => {
    const client = await clientOf(server.address)
    for (let answer = 0; answer < 20; answer++) {
      await new Promise((resolve) => open(client, '/x.Echo/Nothing').resume().on('close', resolve).end())
      ok(await ping(client))
    }
    client.session.close()
    equal(server.turnedAway, [])
  })

  it('of settings ends its connection', async () => {
    const client = await clientOf(server.address)
    await eventually(() => {
      if (!client.isClosed && !client.session.pendingSettingsAck) client.session.settings({ initialWindowSize: 70_000 })
      return client.isClosed
    })
    equal(server.turnedAway, ['settings'])
  })

  for (const scheme of ['grpc', 'ws'] as const)
    for (const [what, path, contentType] of [
      ['calls', '/x.Echo/Echo', 'application/grpc'],
      ['calls of nothing', '/x.Echo/Nothing', 'application/grpc'],
      ['requests that are no calls', '/', 'text/html'],
    ] as const)
      it(`of ${what} that are given up at once ends its connection and no other, over ${scheme}`, async () => {
        const other = dial({ address: server.address })
        await register(other)
        const client = await clientOf(server.address, scheme)
        for (let call = 0; call < 300; call++) open(client, path, contentType).close(constants.NGHTTP2_CANCEL)
        await eventually(() => client.isClosed)
        // Those that are answered before they are given up are counted by the library below, which tells nobody.
        if (path === '/x.Echo/Echo') equal(server.turnedAway, ['resets'])
        await register(other)
        other.close()
      })
})
