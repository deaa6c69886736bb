import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { isIP, type LookupFunction } from 'node:net'
import { type ConnectionOptions, connect as secure, type TLSSocket } from 'node:tls'
import { type Clock, Failure, seconds } from '../../std/index.ts'

export type Multiplex = ReturnType<typeof createMultiplex>

interface StreamRequest {
  url: URL
  headers: Record<string, string | string[]>
  /** Until the answer begins, milliseconds. */
  timeout: number
  signal: AbortSignal | undefined
}

interface StreamAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: ClientHttp2Stream
}

export type TlsOptions = Pick<ConnectionOptions, 'secureContext' | 'rejectUnauthorized' | 'servername'>

interface MultiplexOptions {
  tls: TlsOptions
  clock: Clock
  lookup?: LookupFunction | undefined
  /** Somebody else's server. */
  isStrange: boolean
}

/** A connection over which streams go. */
interface SharedConnection {
  session: ClientHttp2Session
  streams: number
  /** The server allows so many at once. */
  most: number
}

/** A connection that is cut without a word would hold a hundred watches. */
const HEARTBEAT = seconds(30)
const HEARTBEAT_WITHIN = seconds(45)
/** A server may send so much before it is read. */
const WINDOW = 8 * 2 ** 20
const WINDOW_OF_STRANGERS = 2 ** 18

/**
 * Very many streams over few connections, by HTTP/2: a watch costs 12 KB so, and 104 KB with a connection of its own
 * (docs/decisions/0090). Pings of undici's HTTP/2 find no connection that has died without a word; requests go on over HTTP/1.1.
 */
export function createMultiplex(options: MultiplexOptions) {
  const connections = new Set<SharedConnection>()
  let opening: Promise<SharedConnection | undefined> | undefined
  let isClosed = false
  let isUnable = false

  const connectTo = async (origin: URL): Promise<SharedConnection | undefined> => {
    const session = await sessionTo(origin, options)
    if (!session) {
      isUnable = true
      return undefined
    }
    const connection = { session, streams: 0, most: session.remoteSettings.maxConcurrentStreams ?? 100 }
    if (isClosed) session.destroy()
    connections.add(connection)
    for (const end of ['close', 'goaway', 'error']) session.on(end, () => connections.delete(connection))
    beat(session, options.clock)
    return connection
  }
  const freeConnectionTo = async (origin: URL): Promise<SharedConnection | undefined> => {
    while (!isUnable) {
      if (isClosed) throw new Failure('unavailable', 'the connection is closed')
      const free = [...connections].find(({ session, streams, most }) => streams < most && !session.closed)
      if (free) {
        // At once: whoever asks in the same breath must not get the same place.
        free.streams++
        return free
      }
      opening ??= connectTo(origin).finally(() => {
        opening = undefined
      })
      await opening
    }
    return undefined
  }

  return {
    /** `undefined` when the server does not speak HTTP/2. Ends with the signal. */
    async open(request: StreamRequest): Promise<StreamAnswer | undefined> {
      const connection = await freeConnectionTo(request.url)
      if (!connection) return undefined
      const { url, headers, signal } = request
      const stream = requestOn(connection, { ':path': url.pathname + url.search, ...headers })
      stream.once('close', () => connection.streams--)
      const abort = () => stream.destroy(Failure.from(signal?.reason))
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
      stream.once('close', () => signal?.removeEventListener('abort', abort))
      return answerTo(stream, request, options.clock)
    },
    close(): void {
      isClosed = true
      for (const { session } of connections) session.destroy()
    },
  }
}

function requestOn(connection: SharedConnection, headers: Record<string, string | string[]>): ClientHttp2Stream {
  try {
    return connection.session.request(headers, { endStream: true })
  } catch (cause) {
    connection.streams--
    throw new Failure('unavailable', 'the connection was closed meanwhile', { cause })
  }
}

/** `undefined` when the other side prefers HTTP/1.1. */
async function sessionTo(origin: URL, options: MultiplexOptions): Promise<ClientHttp2Session | undefined> {
  const socket = await socketTo(origin, options)
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy()
    return undefined
  }
  const window = options.isStrange ? WINDOW_OF_STRANGERS : WINDOW
  const settings = { enablePush: false, initialWindowSize: window }
  const session = connect(origin, { createConnection: () => socket, settings })
  const ready = Promise.withResolvers<ClientHttp2Session>()
  session.once('remoteSettings', () => {
    session.setLocalWindowSize(window)
    ready.resolve(session)
  })
  session.on('error', ready.reject)
  session.once('close', () => ready.reject(new Failure('unavailable', 'the connection was closed before it was ready')))
  return ready.promise
}

function socketTo({ hostname, port }: URL, { tls, lookup }: MultiplexOptions): Promise<TLSSocket> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const socket = secure({
    host,
    port: Number(port || 443),
    ...(isIP(host) === 0 && { servername: host }),
    ...tls,
    ...(lookup && { lookup }),
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  socket.setTimeout(seconds(30), () => socket.destroy(new Failure('timeout', 'no connection within 30 s')))
  socket.once('error', reject)
  socket.once('secureConnect', () => {
    socket.setTimeout(0)
    resolve(socket)
  })
  return promise
}

function beat(session: ClientHttp2Session, clock: Clock): void {
  const rest = clock.after(HEARTBEAT, () => {
    session.removeListener('close', rest)
    if (session.destroyed) return
    const late = clock.after(HEARTBEAT_WITHIN, () => session.destroy(new Failure('unavailable', 'the connection is silent')))
    session.once('close', late)
    session.ping(() => {
      late()
      session.removeListener('close', late)
      if (!session.destroyed) beat(session, clock)
    })
  })
  session.once('close', rest)
}

function answerTo(stream: ClientHttp2Stream, { timeout }: StreamRequest, clock: Clock): Promise<StreamAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<StreamAnswer>()
  const calm = clock.after(timeout, () => stream.destroy(new Failure('timeout', `no answer within ${timeout / 1000} s`)))
  stream.once('close', () => {
    calm()
    reject(new Failure('unavailable', 'the connection was closed before the answer'))
  })
  stream.on('error', (error) => {
    reject(error)
    // A stream that nobody reads any more must not be the end of the process.
    stream.close(constants.NGHTTP2_CANCEL)
  })
  stream.once('response', ({ ':status': status = 0, ...headers }) => {
    calm()
    resolve({ statusCode: status, headers, body: stream })
  })
  return promise
}
