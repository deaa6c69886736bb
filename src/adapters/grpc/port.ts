import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import {
  type Clock,
  type ConnectionLimits,
  createConnectionCounter,
  isFailure,
  type ListenerKeys,
  listenAt,
  pemOf,
  renewing,
} from '../../std/index.ts'
import { type Calm, type Flood, keepCalm } from './calm.ts'
import { sniff } from './sniff.ts'
import { createUpgrades, refusalOf, streamOf } from './web-socket.ts'

/**
 * Why a connection was not taken, or was cut off. `protocol`: it broke the rules of HTTP; some breaches of HTTP/2 end a
 * connection, and nobody is told. `upgrade`: it asked for something that is no WebSocket for gRPC. The last three
 * are floods.
 */
export type TurnedAway = 'full' | 'address-full' | 'slow' | 'tls' | 'upgrade' | 'protocol' | Flood

export interface PortLimits extends ConnectionLimits, Calm {
  /** Milliseconds from the connection to the first settings of its HTTP/2: TLS and the request for a WebSocket are within. */
  handshake: number
  /** Bytes of the headers of a request for a WebSocket. */
  headerBytes: number
}

interface PortOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  tls: ListenerKeys | undefined
  limits: PortLimits
  /** Speaks HTTP/2 on a stream; `undefined` if that had ended already. */
  speak: (stream: Duplex) => ServerHttp2Session | undefined
  onTurnedAway: (why: TurnedAway) => void
  clock: Clock
}

/** A connection from its first to its last byte. */
interface OpenConnection {
  socket: Socket
  /** It speaks HTTP/2. */
  arrived: boolean
  turnAway(why: TurnedAway): void
}

type OpenConnections = Map<string, OpenConnection>

/**
 * Listens for HTTP/2 and for HTTP/2 in WebSockets on one port. With TLS the protocol is negotiated (ALPN), without TLS it is told
 * by the first bytes.
 */
export async function openPort(options: PortOptions) {
  const { tls, limits } = options
  const open: OpenConnections = new Map()
  const connections = createConnectionCounter(limits)
  const http = answerUpgrades(options, open)
  const secure = { ALPNProtocols: ['h2', 'http/1.1'], noDelay: true }
  const server = tls ? renewing(createTlsServer({ ...secure, ...pemOf(tls) }), tls) : createServer({ noDelay: true })
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const refused = connections.enter(address)
    if (refused) {
      options.onTurnedAway(refused)
      return void socket.destroy()
    }
    welcome(socket, open, options).once('close', () => connections.leave(address))
    if (!tls)
      sniff(socket, (protocol) => (protocol === 'h2' ? speak(socket, socket, open, options) : http.emit('connection', socket)))
  })
  server.on('secureConnection', (socket: Socket & { alpnProtocol: string | false | null }) => {
    // Connections that the other side cuts are no news.
    socket.on('error', () => undefined)
    if (socket.alpnProtocol === 'h2') speak(socket, socket, open, options)
    else http.emit('connection', socket)
  })
  server.on('tlsClientError', (_error, socket: Socket) => open.get(keyOf(socket))?.turnAway('tls'))
  const bound = await listenAt(server, options.address)
  return {
    address: bound,
    get connections() {
      return connections.size
    },
    /** Takes no more connections, and ends those that do not speak HTTP/2 yet. Resolves when there is none any more. */
    close(): Promise<void> {
      for (const { arrived, socket } of open.values()) if (!arrived) socket.destroy()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
    /** Ends all that is open. */
    destroy(): void {
      server.close()
      for (const { socket } of open.values()) socket.destroy()
    },
  }
}

/** A connection is known by where it comes from, because TLS puts another object in its place. */
const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

function welcome(socket: Socket, open: OpenConnections, { limits, clock, onTurnedAway }: PortOptions): Socket {
  const key = keyOf(socket)
  const connection: OpenConnection = {
    socket,
    arrived: false,
    turnAway(why) {
      if (open.get(key) !== connection) return
      open.delete(key)
      onTurnedAway(why)
      socket.destroy()
    },
  }
  open.set(key, connection)
  const relax = clock.after(limits.handshake, () => {
    if (!connection.arrived) connection.turnAway('slow')
  })
  socket.on('error', () => undefined)
  return socket.once('close', () => {
    relax()
    if (open.get(key) === connection) open.delete(key)
  })
}

function speak(stream: Duplex, socket: Socket, open: OpenConnections, { limits, clock, ...options }: PortOptions): void {
  const connection = open.get(keyOf(socket))
  const session = connection && options.speak(stream)
  if (!session) return void socket.destroy()
  // A stream that is no socket has no address, and calls tell theirs in the log.
  if (stream !== socket) Reflect.set(session.socket, '_peername', { address: socket.remoteAddress, port: socket.remotePort })
  session.once('remoteSettings', () => {
    connection.arrived = true
  })
  session.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_HTTP2_ERROR' || error.code === 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES') connection.turnAway('protocol')
  })
  keepCalm(session, limits, clock, options.onTurnedAway)
}

/** HTTP/1 is spoken for one request only: to leave it. */
function answerUpgrades(options: PortOptions, open: OpenConnections): HttpServer {
  const upgrades = createUpgrades()
  const turnAway = (socket: Socket, why: TurnedAway) => open.get(keyOf(socket))?.turnAway(why)
  const http = createHttpServer({ maxHeaderSize: options.limits.headerBytes, keepAlive: false }, (_request, response) => {
    response.writeHead(426, { upgrade: 'websocket', connection: 'close', 'content-type': 'text/plain; charset=utf-8' })
    response.end('This is gRPC: HTTP/2, or a WebSocket with the subprotocol ws-tunnel.\n')
    options.onTurnedAway('upgrade')
  })
  http.on('clientError', (_error, socket: Socket) => turnAway(socket, 'protocol'))
  const refuse = (socket: Socket, status: string) => {
    options.onTurnedAway('upgrade')
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`)
  }
  upgrades.on('wsClientError', (_error, socket: Socket) => refuse(socket, '400 Bad Request'))
  http.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const refusal = refusalOf(request)
    if (refusal !== undefined) return refuse(socket, refusal)
    upgrades.handleUpgrade(request, socket, head, (webSocket) => {
      const stream = streamOf(webSocket)
      stream.once('error', (error) => {
        if (!isFailure(error, 'cancelled')) turnAway(socket, 'protocol')
      })
      speak(stream, socket, open, options)
    })
  })
  return http
}
