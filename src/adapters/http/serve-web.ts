import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Clock, type ListenerKeys, pause, pemOf, renewing, seconds } from '../../std/index.ts'
import { listen } from './serve.ts'

export interface ServeWebOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  /** PEM; plain text without it. */
  tls?: ListenerKeys | undefined
  /** Answers, whatever happens. A request that waits for `100 Continue` gets it from whoever reads its body. */
  onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** The bare connection; `first` is what has come behind the request. Without it nobody upgrades: such a request is one like any other. */
  onUpgrade?: (request: IncomingMessage, socket: Duplex, first: Buffer) => void
  /** Connections at once; more are hung up on. */
  maxConnections: number
  clock: Clock
}

export interface WebServer {
  readonly address: string
  /** Takes no more connections, ends idle ones, waits so long for the others, and cuts what is left. Milliseconds. */
  stop(grace: number): Promise<void>
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
}: ServeWebOptions): Promise<WebServer> {
  // What asks for HTTP/2 in plain text goes on with HTTP/1.1, as the standard allows.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    onUpgrade !== undefined && !/^h2c?$/i.test(headers.upgrade ?? '')
  const options: ServerOptions = { ...STRICT, shouldUpgradeCallback }
  const server = tls ? renewing(createTlsServer({ ...options, ...pemOf(tls) }), tls) : createServer(options)
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
  const host = address.slice(0, address.lastIndexOf(':'))
  const port = await listen(server, host.replace(/^\[(.*)\]$/, '$1'), Number(address.slice(host.length + 1)))
  return {
    address: `${host}:${port}`,
    async stop(grace) {
      const waiting = new AbortController()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      await Promise.race([closed, pause(clock, grace, waiting.signal)])
      waiting.abort()
      for (const socket of bare) socket.destroy()
      server.closeAllConnections()
      await closed
    },
  }
}
