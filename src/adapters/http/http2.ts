import { createHash } from 'node:crypto'
import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { Failure, type ListenerKeys, minutes, pemOf, renewing, seconds } from '../../std/index.ts'
import { TranslatedRequest } from './http2-request.ts'
import { TranslatedResponse } from './http2-response.ts'
import type { FlatHeaders, WebUpgrade } from './web.ts'

/** A connection without a request is kept for so long. */
const IDLE = minutes(2)
const PROBE = seconds(30)
/** Requests of a connection at once. */
const STREAMS = 128
/** Bytes that a client may send before they are read: of a stream, and of a connection. */
const WINDOW = { stream: 2 ** 18, connection: 2 ** 20 }

/** Speaks HTTP/2 with who can, and HTTP/1.1 with others: requests come in the same way. Without `onUpgrade` no stream is a WebSocket. */
export function createWebServerWithTls(
  options: ServerOptions,
  tls: ListenerKeys,
  onUpgrade: ((upgrade: WebUpgrade) => void) | undefined,
): Server {
  const server = createSecureServer({
    ...options,
    ...pemOf(tls),
    allowHTTP1: true,
    Http2ServerRequest: TranslatedRequest,
    Http2ServerResponse: TranslatedResponse,
    // What servers of developers send twice goes on twice, as in HTTP/1.1.
    strictSingleValueFields: false,
    settings: {
      enableConnectProtocol: onUpgrade !== undefined,
      maxConcurrentStreams: STREAMS,
      maxHeaderListSize: options.maxHeaderSize,
      initialWindowSize: WINDOW.stream,
    },
  })
  server.on('session', (session) => {
    session.setLocalWindowSize(WINDOW.connection)
    endWhenIdle(session)
  })
  server.on('connect', (request: Http2ServerRequest | IncomingMessage, rest: Http2ServerResponse | Duplex) => {
    const upgrade = rest instanceof TranslatedResponse && request instanceof TranslatedRequest && upgradeOf(request, rest)
    if (upgrade && onUpgrade) onUpgrade(upgrade)
    else if (rest instanceof TranslatedResponse) rest.writeHead(501).end()
    else rest.destroy()
  })
  const sockets = new Set<Duplex>()
  server.on('secureConnection', (socket) => {
    // A side that is gone without a word is found out.
    socket.setKeepAlive(true, PROBE)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const closeAllConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  // as: to who listens it is such a server, but for this, which it lacks
  return renewing(Object.assign(server, { closeAllConnections }), tls) as unknown as Server
}

function endWhenIdle(session: Http2Session): void {
  let streams = 0
  session.on('stream', (stream: Duplex) => {
    streams++
    stream.once('close', () => {
      streams--
      // It tells once, and again only when something has come since.
      if (!session.destroyed) session.setTimeout(IDLE)
    })
  })
  // Silent streams are none of a connection's business: events come when they come.
  session.on('timeout', () => {
    if (streams === 0) session.destroy()
  })
  session.setTimeout(IDLE)
}

/** The WebSocket that somebody asks for on a stream. `undefined`: it is something else. RFC 8441. */
function upgradeOf(request: TranslatedRequest, response: TranslatedResponse): WebUpgrade | undefined {
  const { stream, headers } = request
  if (headers.upgrade !== 'websocket') return undefined
  const key = String(headers['sec-websocket-key'])
  return {
    request,
    line: stream,
    first: Buffer.alloc(0),
    accept: (_protocol, answered) => accept(stream, key, answered),
    refusal: () => response,
  }
}

/** Browsers compare it themselves in HTTP/1.1; here the key is ours. RFC 6455, 4.2.2. */
const proofOf = (key: string): string => createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

function accept(stream: ServerHttp2Stream, key: string, answered: FlatHeaders): void {
  const headers: Record<string, string[]> = {}
  for (let at = 0; at + 1 < answered.length; at += 2) {
    const name = answered[at]?.toLowerCase() ?? ''
    headers[name] = [...(headers[name] ?? []), answered[at + 1] ?? '']
  }
  const { 'sec-websocket-accept': proof, ...rest } = headers
  if (proof?.join() !== proofOf(key)) throw new Failure('unavailable', 'it went on with something else', { reason: 'NoHttp' })
  stream.respond({ ':status': 200, ...rest })
}
