import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { type Clock, Failure, type ListenerKeys, type Log, listenAt, pause, pemOf, renewing, seconds } from '../../std/index.ts'

/** A request that has been read whole. */
export interface ServedRequest {
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly path: string
  header(name: string): string | undefined
  readonly body: Buffer
  /** Address of the other side of the connection: a proxy's, if there is one before us. */
  readonly peer: string
}

export interface ServedResponse {
  status: number
  text?: string
  contentType?: string
  headers?: Readonly<Record<string, string>>
}

export type Responder = (request: ServedRequest) => Promise<ServedResponse> | ServedResponse

export interface ListenerOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  /** PEM; plain text without it. */
  tls?: ListenerKeys | undefined
  clock: Clock
}

export interface ServeHttpOptions extends ListenerOptions {
  respond: Responder
  /** Longest request body. */
  maxBytes?: number
  log: Log
}

export interface HttpServer {
  readonly address: string
  stop(grace?: number): Promise<void>
}

export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const { address, tls, respond, maxBytes = 2 ** 20, clock, log } = options
  const onRequest: RequestListener = (request, response) => {
    void answer(request, respond, maxBytes, log).then(
      ({ status, text = '', contentType = 'text/plain; charset=utf-8', headers = {} }) => {
        response.writeHead(status, {
          'content-type': contentType,
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
          ...headers,
        })
        response.end(text)
      },
    )
  }
  const server = createHttpServer({}, tls).on('request', onRequest)
  return { address: await listenAt(server, address), stop: (grace = seconds(2)) => closeServer(server, clock, grace) }
}

export const createHttpServer = (options: ServerOptions, tls: ListenerKeys | undefined): Server =>
  tls ? renewing(createTlsServer({ ...options, ...pemOf(tls) }), tls) : createServer(options)

/** A failure inside is answered with 500 without saying why; the cause is in the log. */
async function answer(request: IncomingMessage, respond: Responder, maxBytes: number, log: Log): Promise<ServedResponse> {
  try {
    const isLong = Number(request.headers['content-length'] ?? 0) > maxBytes
    const body = isLong ? undefined : await readBody(request, maxBytes)
    // The rest of the body is not read, so the connection cannot be used again.
    if (!body) return { status: 413, text: `The body is larger than ${maxBytes} bytes.\n`, headers: { connection: 'close' } }
    const served = requestOf(request, body)
    return served ? await respond(served) : { status: 400, text: 'The path cannot be read.\n' }
  } catch (thrown) {
    log.error('An HTTP request failed', { method: request.method, error: Failure.from(thrown) })
    return { status: 500, text: 'Internal error; the cause is in the log.\n' }
  }
}

function requestOf(request: IncomingMessage, body: Buffer): ServedRequest | undefined {
  const base = 'http://localhost'
  const path = request.url ?? '/'
  if (!URL.canParse(path, base)) return undefined
  return {
    method: request.method ?? 'GET',
    path: new URL(path, base).pathname,
    peer: request.socket.remoteAddress ?? '',
    header(name) {
      const value = request.headers[name.toLowerCase()]
      return Array.isArray(value) ? value[0] : value
    },
    body,
  }
}

/** Gives nothing when the body is longer than that; what is still to come is not read then. */
export async function readBody(request: Pick<IncomingMessage, 'iterator'>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Takes no more connections, ends idle ones, waits so long for the others, and cuts what is left. `cutMore` cuts what Node forgets. */
export async function closeServer(server: Server, clock: Clock, grace: number, cutMore?: () => void): Promise<void> {
  const waiting = new AbortController()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  await Promise.race([closed, pause(clock, grace, waiting.signal)])
  waiting.abort()
  cutMore?.()
  server.closeAllConnections()
  await closed
}
