import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { listenAt, seconds } from '../../std/index.ts'
import { closeServer, createHttpServer, type HttpServer, type ListenerOptions } from './serve.ts'

interface ServeWebOptions extends ListenerOptions {
  /** Answers, whatever happens. A request that waits for `100 Continue` gets it from the reader of its body. */
  onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** The bare connection; `first` is what has come behind the request. Without it nobody upgrades: such a request is one like any other. */
  onUpgrade?: (request: IncomingMessage, socket: Duplex, first: Buffer) => void
  /** Connections at once; more are hung up on. */
  maxConnections: number
}

/**
 * Node's parser refuses what two readers could read in two ways: both or several lengths, bare line feeds, spaces before colons,
 * folded lines. It stays strict whatever the command line of Node says.
 */
const STRICT: ServerOptions = {
  insecureHTTPParser: false,
  requireHostHeader: true,
  maxHeaderSize: 32 * 1024,
  headersTimeout: seconds(15),
  // Uploads may take as long as they take.
  requestTimeout: 0,
  connectionsCheckingInterval: seconds(5),
  // Longer than load balancers keep theirs, so that none of them writes into a connection that is being closed.
  keepAliveTimeout: seconds(75),
  noDelay: true,
}

/** Requests and upgrades of browsers, as Node has them. */
export async function serveWeb({
  address,
  tls,
  onRequest,
  onUpgrade,
  maxConnections,
  clock,
}: ServeWebOptions): Promise<HttpServer> {
  // A client that asks for HTTP/2 in plain text goes on with HTTP/1.1, as the standard allows.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    onUpgrade !== undefined && !/^h2c?$/i.test(headers.upgrade ?? '')
  const server = createHttpServer({ ...STRICT, shouldUpgradeCallback }, tls)
  server.maxConnections = maxConnections
  server.on('request', onRequest)
  server.on('checkContinue', onRequest)
  // The server forgets these connections, and yet waits for their end.
  const bare = new Set<Duplex>()
  server.on('upgrade', (request, socket, first) => {
    bare.add(socket)
    socket.once('close', () => bare.delete(socket))
    socket.on('error', () => socket.destroy())
    onUpgrade?.(request, socket, first)
  })
  const cutBare = () => {
    for (const socket of bare) socket.destroy()
  }
  return { address: await listenAt(server, address), stop: (grace = 0) => closeServer(server, clock, grace, cutBare) }
}
