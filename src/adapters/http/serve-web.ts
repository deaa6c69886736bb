import { createServer, type IncomingMessage, type ServerOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { listenAt, seconds } from '../../std/index.ts'
import { createWebServerWithTls } from './http2.ts'
import { closeServer, type HttpServer, type ListenerOptions } from './serve.ts'
import { upgradeOn } from './upgrade.ts'
import type { WebRequest, WebResponse, WebUpgrade } from './web.ts'

interface ServeWebOptions extends ListenerOptions {
  /** Answers, whatever happens. A request that waits for `100 Continue` gets it from the reader of its body. */
  onRequest: (request: WebRequest, response: WebResponse) => void
  /** Without it nobody upgrades: such a request is one like any other. */
  onUpgrade?: (upgrade: WebUpgrade) => void
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

/** Requests and upgrades of browsers, with TLS by either version of HTTP. */
export async function serveWeb({
  address,
  tls,
  onRequest,
  onUpgrade,
  maxConnections,
  clock,
}: ServeWebOptions): Promise<HttpServer> {
  // The server forgets these connections, and yet waits for their end.
  const bare = new Set<Duplex>()
  const begin = (upgrade: WebUpgrade) => {
    const { line } = upgrade
    bare.add(line)
    line.once('close', () => bare.delete(line))
    line.on('error', () => line.destroy())
    onUpgrade?.(upgrade)
  }
  const server = tls ? createWebServerWithTls(STRICT, tls, onUpgrade && begin) : createServer(STRICT)
  server.maxConnections = maxConnections
  // A client that asks for HTTP/2 in plain text goes on with HTTP/1.1, as the standard allows. A server with TLS has no such option.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    onUpgrade !== undefined && !/^h2c?$/i.test(headers.upgrade ?? '')
  Object.assign(server, { shouldUpgradeCallback })
  server.on('request', onRequest)
  server.on('checkContinue', onRequest)
  server.on('upgrade', (request, socket, first) => begin(upgradeOn(request, socket, first)))
  const cutBare = () => {
    for (const line of bare) line.destroy()
  }
  return { address: await listenAt(server, address), stop: (grace = 0) => closeServer(server, clock, grace, cutBare) }
}
