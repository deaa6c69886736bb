import { ChannelCredentials, Server, ServerCredentials } from '@grpc/grpc-js'
import { equal, is, ok } from 'uvu/assert'
import { describe } from '../../support/suite.ts'

/** What of the gRPC library is used that it does not promise to keep. When one of these fails, read serve.ts and credentials.ts. */
describe('the gRPC library', (it) => {
  it('keeps the settings of its HTTP/2 servers in commonServerOptions', () => {
    ok(Reflect.get(new Server({ 'grpc.max_concurrent_streams': 7 }), 'commonServerOptions').settings.maxConcurrentStreams === 7)
  })

  it('keeps the HTTP/2 server of an injector in http2Servers, and one listener for its streams', () => {
    const server = new Server()
    server.createConnectionInjector(ServerCredentials.createInsecure())
    const servers: unknown = Reflect.get(server, 'http2Servers')
    ok(servers instanceof Map)
    is(servers.size, 1)
    const [http2] = servers.keys()
    is(http2.listenerCount('stream'), 1)
    server.forceShutdown()
  })

  it('asks credentials for a connector that makes a connection of a connection', async () => {
    const connector = ChannelCredentials.createInsecure()._createSecureConnector({ path: 'a:1' }, {})
    equal(Object.keys(connector).sort(), ['connect', 'destroy', 'getCallCredentials', 'waitForReady'])
  })
})
