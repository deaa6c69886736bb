import { is } from 'uvu/assert'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { dial, type GrpcConnection } from '../../../src/adapters/grpc/index.ts'
import { lacksTwoAddresses } from '../../support/addresses.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type EchoServer, echoServer, register } from './echo.ts'

const severalAddresses: Parameters<typeof describe>[1] = (it) => {
  let servers: EchoServer[] = []
  let port = ''
  let connection: GrpcConnection
  it.beforeEach(async () => {
    // No port of the kernel's choice: on the other address it may be somebody's.
    port = String(await freePort())
    servers = [await echoServer({ address: `127.0.0.1:${port}` }), await echoServer({ address: `[::1]:${port}` })]
  })
  it.afterEach(async () => {
    connection.close()
    await Promise.all(servers.map((server) => server.stop(0)))
  })
  const connections = () => servers.map((server) => server.connections).join()
  const calls = () => servers.map((server) => server.calls.length)

  it('gets a connection to each of them, and calls in turn', async () => {
    connection = dial({ address: `grpc://localhost:${port}`, everyAddress: true })
    // A connection that a server has taken need not be ready for calls.
    await eventually(async () => {
      await register(connection)
      return calls().every((count) => count > 0)
    })
    is(connections(), '1,1')
    const before = calls()
    for (let n = 0; n < 10; n++) await register(connection)
    for (const [at, count] of calls().entries()) is(count - (before[at] ?? 0), 5)
    is(connections(), '1,1')
  })

  it('goes on with one of them when the other goes, and comes back to it', async () => {
    connection = dial({ address: `grpc://localhost:${port}`, everyAddress: true })
    await register(connection)
    await eventually(() => connections() === '1,1')
    await servers[1]?.stop(0)
    // Calls that begin before the end of the line was heard of may fail.
    await eventually(async () => {
      for (let n = 0; n < 10; n++) await register(connection)
      return true
    })
    const again = await echoServer({ address: `[::1]:${port}` })
    servers = [...servers.slice(0, 1), again]
    await eventually(async () => {
      await register(connection)
      return again.calls.length > 0
    })
    is(connections(), '1,1')
  })

  it('gets one connection where nobody asked for more, and over WebSockets', async () => {
    for (const [scheme, everyAddress] of [
      ['grpc', false],
      ['ws', true],
    ] as const) {
      connection = dial({ address: `${scheme}://localhost:${port}`, everyAddress })
      for (let n = 0; n < 10; n++) await register(connection)
      // Where the first address is slow the second one is tried beside it, and left.
      await eventually(() => ['1,0', '0,1'].includes(connections()))
      connection.close()
      await eventually(() => connections() === '0,0')
    }
  })
}

/** Agents are told one name for many kas. */
describe('a name of several addresses', severalAddresses, await lacksTwoAddresses())
