import { EventEmitter, once, setMaxListeners } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { type Clock, createConnectionCounter, Failure, type Log, listenAt, pause, seconds } from '../../std/index.ts'
import { createHttpServer, type HttpServer, type ListenerOptions } from './serve.ts'

type Headers = Readonly<Record<string, readonly string[]>>

/** A request and its answer as streams: neither is ever here as a whole. */
export interface Visit {
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Headers
  readonly peer: string
  /** The protocol that the visitor wants to go on with. */
  readonly upgrade: string | undefined
  /** Bytes of the body; `undefined` when only its end will tell. */
  readonly length: number | undefined
  /** Read once, at the reader's pace; throws when the visitor stalls. */
  readonly body: AsyncIterable<Uint8Array>
  /** Bytes that come after the answer 101. */
  readonly upgraded: AsyncIterable<Uint8Array>
  /** Aborts when the visitor hangs up. */
  readonly left: AbortSignal
  /** Aborts when the grace of the stopping server is over: what has not begun is to be answered at once, the rest is cut. */
  readonly overdue: AbortSignal
  /** Aborts when the server begins to stop: time to end what can be begun again elsewhere. */
  readonly stopping: AbortSignal
  begin(status: number, reason: string, headers: Headers): void
  readonly hasBegun: boolean
  /** Resolves when the visitor can take more. */
  send(bytes: Uint8Array): Promise<void>
  end(): void
  /** Hangs up, so that the visitor knows that the answer is not whole. */
  cut(): void
}

interface ServeVisitsOptions extends ListenerOptions {
  /** Answers, whatever happens; returns when the answer is over. */
  visit: (visit: Visit) => Promise<void>
  /** Visits may go on so long when the server stops, milliseconds. */
  grace: number
  /** Told of each connection that is not taken: there are too many in all, or of one network. */
  turnedAway: (why: 'full' | 'address-full') => void
  log: Log
}

/** Tokens of people are long; nothing else in a header is. */
const MAX_HEADER = 32 * 1024
const HEADERS_WITHIN = seconds(10)
const CHUNK_WITHIN = seconds(60)
const LINGER = seconds(5)
/** So long visits have to say that their time is over. */
const LAST_WORDS = seconds(2)
const CONNECTION_LIMITS = { connections: 20_000, connectionsPerAddress: 2500 }

export async function serveVisits(options: ServeVisitsOptions): Promise<HttpServer> {
  const { address, tls, visit, grace, turnedAway, clock, log } = options
  const limits = {
    maxHeaderSize: MAX_HEADER,
    headersTimeout: HEADERS_WITHIN,
    handshakeTimeout: HEADERS_WITHIN,
    // Bodies may take as long as they like while they come: see `chunks`.
    requestTimeout: 0,
    connectionsCheckingInterval: seconds(2),
    keepAlive: true,
    keepAliveTimeout: seconds(65),
  }
  const server = createHttpServer(limits, tls)
  limitConnections(server, turnedAway)
  const open = new Set<Way>()
  const [stopping, overdue] = [new AbortController(), new AbortController()]
  // Every visit may listen: thousands are no leak.
  setMaxListeners(0, stopping.signal, overdue.signal)
  const idle = new EventEmitter()

  const receive = (request: IncomingMessage, way: Way) => {
    const leaving = new AbortController()
    open.add(way)
    const done = () => {
      if (open.delete(way) && open.size === 0) idle.emit('idle')
    }
    way.stream.once('close', () => leaving.abort())
    // An end that nobody waits for is no uncaught exception.
    way.stream.on('error', () => undefined)
    visit(visitOf(request, way, { left: leaving.signal, stopping: stopping.signal, overdue: overdue.signal, clock }))
      .catch((thrown: unknown) => {
        log.error('A visit failed', { method: request.method, error: Failure.from(thrown) })
        way.stream.destroy()
      })
      .finally(done)
  }
  server.on('request', (request, response) => receive(request, byResponse(request, response)))
  server.on('checkContinue', (request, response) => {
    response.writeContinue()
    receive(request, byResponse(request, response))
  })
  // The server forgets these connections, and yet waits for their end.
  const bare = new Set<Duplex>()
  server.on('upgrade', (request, socket, first) => {
    bare.add(socket)
    socket.once('close', () => bare.delete(socket))
    receive(request, bySocket(socket, first, clock))
  })
  return {
    address: await listenAt(server, address),
    async stop(given = grace) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      stopping.abort()
      server.closeIdleConnections()
      const wait = async (ms: number) => {
        const waiting = new AbortController()
        if (open.size > 0) await Promise.race([once(idle, 'idle'), pause(clock, ms, waiting.signal)])
        waiting.abort()
      }
      await wait(given)
      if (open.size > 0)
        log.info('Visits are ended: the server stops, and their time is over', { visits: open.size, grace: given })
      overdue.abort()
      await wait(LAST_WORDS)
      for (const { stream } of open) stream.destroy()
      for (const socket of bare) socket.destroy()
      server.closeAllConnections()
      await closed
    },
  }
}

/** One host must not take the places of all. */
function limitConnections(server: Server, turnedAway: (why: 'full' | 'address-full') => void): void {
  const connections = createConnectionCounter(CONNECTION_LIMITS)
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const why = connections.enter(address)
    if (why === undefined) return socket.once('close', () => connections.leave(address))
    turnedAway(why)
    return socket.destroy()
  })
}

/** The answer reaches the visitor by this. */
interface Way {
  /** Closed: the visitor has left, or has all. */
  stream: Duplex | ServerResponse
  incoming: AsyncIterable<Uint8Array>
  begin(status: number, reason: string, headers: Headers): void
  end(): void
}

const byResponse = (request: IncomingMessage, response: ServerResponse): Way => ({
  stream: response,
  incoming: request.iterator({ destroyOnReturn: false }),
  begin(status, reason, headers) {
    response.writeHead(status, reason, Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]])))
    // A watch is open before anything has happened.
    response.flushHeaders()
  },
  end: () => void response.end(),
})

/** Node hands over the bare connection of who asks to upgrade; when that is refused, it is closed after the answer. */
const bySocket = (socket: Duplex, first: Buffer, clock: Clock): Way => {
  if (first.length > 0) socket.unshift(first)
  return {
    stream: socket,
    incoming: socket,
    begin(status, reason, headers) {
      const all = status === 101 ? headers : { ...headers, connection: ['close'] }
      const lines = Object.entries(all).flatMap(([name, values]) =>
        values.map((value) => {
          validateHeaderName(name)
          validateHeaderValue(name, value)
          return `${name}: ${value}\r\n`
        }),
      )
      socket.write(`HTTP/1.1 ${status} ${reason.replace(/[^ -~]/g, '')}\r\n${lines.join('')}\r\n`, 'latin1')
    },
    end() {
      socket.end()
      // A visitor who does not hang up would keep the connection; one that is cut at once might lose the last bytes.
      socket.once(
        'close',
        clock.after(LINGER, () => socket.destroy()),
      )
    },
  }
}

function visitOf(
  request: IncomingMessage,
  { stream, incoming, begin, end }: Way,
  { left, overdue, stopping, clock }: Pick<Visit, 'left' | 'overdue' | 'stopping'> & { clock: Clock },
): Visit {
  let hasBegun = false
  const upgrade = isResponse(stream) ? undefined : (request.headers.upgrade ?? '')
  const length = upgrade === undefined ? lengthOf(request) : 0
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: headersOf(request.rawHeaders),
    peer: request.socket.remoteAddress ?? '',
    upgrade,
    length,
    body: length === 0 ? Readable.from([]) : chunks(incoming, clock),
    upgraded: incoming,
    left,
    overdue,
    stopping,
    get hasBegun() {
      return hasBegun
    },
    begin(status, reason, headers) {
      hasBegun = true
      begin(status, reason, stopping.aborted && status !== 101 ? { ...headers, connection: ['close'] } : headers)
    },
    async send(bytes) {
      if (left.aborted || stream.write(bytes)) return
      await once(stream, 'drain', { signal: left }).catch(() => undefined)
    },
    end,
    cut: () => void stream.destroy(),
  }
}

const isResponse = (stream: Duplex | ServerResponse): stream is ServerResponse => 'writeHead' in stream

const lengthOf = ({ headers }: IncomingMessage): number | undefined =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined

/** A body that comes a byte a minute would hold its connection, and the agent's, for ever. */
async function* chunks(incoming: AsyncIterable<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array> {
  const each = incoming[Symbol.asyncIterator]()
  while (true) {
    const late = Promise.withResolvers<never>()
    const calm = clock.after(CHUNK_WITHIN, () =>
      late.reject(new Failure('timeout', 'the body of the request has stopped coming', { reason: 'RequestTooSlow' })),
    )
    try {
      const { value, done } = await Promise.race([each.next(), late.promise])
      if (done) return
      yield value
    } finally {
      calm()
    }
  }
}

function headersOf(raw: readonly string[]): Headers {
  const headers: Record<string, string[]> = Object.create(null)
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    const value = raw[at + 1] ?? ''
    headers[name] = [...(headers[name] ?? []), Buffer.from(value, 'latin1').toString('utf8')]
  }
  return headers
}
