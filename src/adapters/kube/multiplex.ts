import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { isIP, type LookupFunction } from 'node:net'
import { type ConnectionOptions, connect as secure, type TLSSocket } from 'node:tls'
import { type Clock, Failure, seconds } from '../../std/index.ts'

/**
 * Very many streams over few connections, by HTTP/2: a watch costs 12 KB so, and 104 KB with a connection of its own
 * (docs/decisions/0090). undici's HTTP/2 hung here; requests go on over HTTP/1.1.
 */
export interface Multiplex {
  /** `undefined` when the server does not speak HTTP/2. Ends with the signal. */
  open(request: StreamRequest): Promise<StreamAnswer | undefined>
  close(): void
}

export interface StreamRequest {
  url: URL
  headers: Record<string, string | string[]>
  /** Until the answer begins, milliseconds. */
  timeout: number
  signal: AbortSignal | undefined
}

export interface StreamAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: ClientHttp2Stream
}

export type TlsOptions = Pick<ConnectionOptions, 'secureContext' | 'rejectUnauthorized' | 'servername'>

export interface MultiplexOptions {
  tls: TlsOptions
  clock: Clock
  lookup?: LookupFunction | undefined
  /** Somebody else's server. */
  isStrange: boolean
}

interface Line {
  session: ClientHttp2Session
  streams: number
  /** What the server allows at once. */
  most: number
}

/** A connection that is cut without a word would hold a hundred watches. */
const HEARTBEAT = seconds(30)
const HEARTBEAT_WITHIN = seconds(45)
/** What a server may send before it is read. */
const WINDOW = 8 * 2 ** 20
const WINDOW_OF_STRANGERS = 2 ** 18

export function createMultiplex(options: MultiplexOptions): Multiplex {
  const lines = new Set<Line>()
  let opening: Promise<Line | undefined> | undefined
  let isClosed = false
  let isUnable = false

  const openLine = async (origin: URL): Promise<Line | undefined> => {
    const session = await sessionTo(origin, options)
    if (!session) {
      isUnable = true
      return undefined
    }
    const line = { session, streams: 0, most: session.remoteSettings.maxConcurrentStreams ?? 100 }
    if (isClosed) session.destroy()
    lines.add(line)
    for (const end of ['close', 'goaway', 'error']) session.on(end, () => lines.delete(line))
    beat(session, options.clock)
    return line
  }
  const lineTo = async (origin: URL): Promise<Line | undefined> => {
    while (!isUnable) {
      if (isClosed) throw new Failure('unavailable', 'the connection is closed')
      const free = [...lines].find(({ session, streams, most }) => streams < most && !session.closed)
      if (free) {
        // At once: whoever asks in the same breath must not get the same place.
        free.streams++
        return free
      }
      opening ??= openLine(origin).finally(() => {
        opening = undefined
      })
      await opening
    }
    return undefined
  }

  return {
    async open(request) {
      const line = await lineTo(request.url)
      if (!line) return
      const { url, headers, signal } = request
      const stream = requestOn(line, { ':path': url.pathname + url.search, ...headers })
      stream.once('close', () => line.streams--)
      const abort = () => stream.destroy(Failure.from(signal?.reason))
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
      stream.once('close', () => signal?.removeEventListener('abort', abort))
      return answerTo(stream, request, options.clock)
    },
    close() {
      isClosed = true
      for (const { session } of lines) session.destroy()
    },
  }
}

function requestOn(line: Line, headers: Record<string, string | string[]>): ClientHttp2Stream {
  try {
    return line.session.request(headers, { endStream: true })
  } catch (cause) {
    line.streams--
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
