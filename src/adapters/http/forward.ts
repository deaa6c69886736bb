import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { Failure, LRUCache, minutes, seconds } from '../../std/index.ts'
import type { FlatHeaders, WebRequest, WebResponse } from './web.ts'

/** They speak of one connection, between two neighbours. RFC 9110, 7.6.1. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export interface Upstream {
  readonly host: string
  readonly port: number
  /** Makes a connection where no address leads; then the host is a name for it and nothing else, and never looked up. */
  readonly open?: () => Promise<Duplex>
}

/** One request on its way. */
export interface ForwardedRequest {
  readonly request: WebRequest
  readonly response: WebResponse
  readonly to: Upstream
  /** Path and query. */
  readonly target: string
  /** Headers as they are sent, the host among them; none that is between two neighbours only. */
  readonly headers: FlatHeaders
  /** Picks the headers of the answer that the visitor gets. */
  readonly answerHeaders: (headers: FlatHeaders) => string[]
}

export type Forwarder = ReturnType<typeof createForwarder>

const CONNECT_WITHIN = seconds(5)
const ANSWER_WITHIN = minutes(10)

/**
 * Passes requests on to servers that are trusted with nothing, and their answers back, as streams at the pace of the slower side.
 * Connections to a server are kept while it is used.
 */
export function createForwarder() {
  const connect = buildConnector({ timeout: CONNECT_WITHIN, autoSelectFamily: false })
  // undici tells a connector the host alone. Each request says anew how its host is reached, long before so many others are asked for.
  const openers = new LRUCache<string, () => Promise<Duplex>>({ max: 10_000 })
  const agent = new Agent({
    connect(options, done) {
      const open = openers.get(options.host ?? '')
      if (!open) return connect(options, done)
      open().then(
        (line) => done(null, line as Socket), // as: undici treats it as the stream that it is
        (thrown: unknown) => done(Failure.from(thrown), null),
      )
    },
    headersTimeout: ANSWER_WITHIN,
    // Streams of events may be silent for as long as they like.
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
    pipelining: 1,
    // Servers of developers close theirs after five seconds, as Node does.
    keepAliveTimeout: seconds(4),
    allowH2: false,
  })
  const once = (forwarded: ForwardedRequest) =>
    new Promise<void>((resolve, reject) => dispatch(agent, forwarded, resolve, reject))
  return {
    /**
     * Resolves when the answer is over, or the visitor has hung up. A failure before the first byte of an answer is thrown, and the
     * response is still to be written; after it, the visitor is hung up on, so that what he has does not look whole.
     */
    async pass(forwarded: ForwardedRequest): Promise<void> {
      const { to } = forwarded
      if (to.open) openers.set(new URL(originOf(to)).host, to.open)
      try {
        await once(forwarded)
      } catch (thrown) {
        // The server may have closed a kept connection in the same moment. What has no body can be said again.
        if (!isRepeatable(forwarded, thrown)) throw thrown
        await once(forwarded)
      }
    },
    stop: () => agent.destroy(),
  }
}

const isRepeatable = ({ request, response }: ForwardedRequest, thrown: unknown): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') &&
  !hasBody(request) &&
  !response.headersSent &&
  !response.destroyed &&
  thrown instanceof Failure &&
  thrown.reason === 'Closed'

const hasBody = ({ headers }: WebRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0')

function dispatch(agent: Agent, forwarded: ForwardedRequest, resolve: () => void, reject: (failure: Failure) => void): void {
  const { request, response, to, target, headers } = forwarded
  let controller: Dispatcher.DispatchController | undefined
  const hangUp = () => controller?.abort(new Failure('cancelled', 'the visitor has hung up'))
  const onClose = () => {
    // A stream of HTTP/2 that is reset is finished by that, whatever was still to come.
    if (!(response.writableEnded && response.writableFinished)) hangUp()
    resolve()
  }
  response.once('close', onClose)
  const failed = (error: Error) => {
    response.off('close', onClose)
    if (response.destroyed) return resolve()
    if (!response.headersSent) return reject(failureOf(error))
    response.destroy()
    resolve()
  }
  try {
    agent.dispatch(
      {
        origin: originOf(to),
        path: target,
        method: request.method ?? 'GET',
        headers: [...headers],
        body: hasBody(request) ? Readable.from(bodyOf(request, response), { objectMode: false }) : null,
        // A stream of events holds its connection: nothing may wait behind it.
        blocking: true,
      },
      {
        ...handlerOf(forwarded, failed),
        onRequestStart(given) {
          controller = given
          if (response.destroyed) hangUp()
        },
      },
    )
  } catch (thrown) {
    failed(thrown instanceof Error ? thrown : new Failure('internal', String(thrown)))
  }
}

function handlerOf({ response, answerHeaders }: ForwardedRequest, failed: (error: Error) => void): Dispatcher.DispatchHandler {
  let written = false
  return {
    onResponseStart(controller, status, _headers, text) {
      // 100 and 103 are between neighbours; 101 was not asked for.
      if (status < 200) return
      response.writeHead(status, textOf(status, text), answerHeaders(flatOf(controller.rawHeaders)))
      // A visitor who waits for events wants to know at once that they will come; a short answer goes out in one piece with its head.
      queueMicrotask(() => {
        if (!(written || response.writableEnded)) response.flushHeaders()
      })
    },
    onResponseData(controller, chunk) {
      written = true
      if (response.write(chunk)) return
      controller.pause()
      response.once('drain', () => controller.resume())
    },
    onResponseEnd() {
      response.end()
    },
    onResponseError(_controller, error) {
      failed(error)
    },
  }
}

/** Not the stream itself: a reader that is done with that destroys the connection of the visitor. */
async function* bodyOf(request: WebRequest, response: WebResponse): AsyncGenerator<Uint8Array> {
  if (request.headers.expect !== undefined) response.writeContinue()
  yield* request.iterator({ destroyOnReturn: false })
}

const originOf = ({ host, port }: Upstream): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Only what a status line may hold. */
export const textOf = (status: number, text: string | undefined): string => {
  const plain = (text ?? '').replace(/[^ -~]/g, '')
  return plain || (STATUS_CODES[status] ?? 'Unknown')
}

function flatOf(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return Array.isArray(raw) ? raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1'))) : []
}

/** In words that say nothing of addresses. */
export function failureOf(error: Error): Failure {
  if (error instanceof Failure) return error
  const code = 'code' in error ? String(error.code) : ''
  const unavailable = (message: string, reason: string) => new Failure('unavailable', message, { reason, cause: error })
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new Failure('timeout', 'nothing answers on the port', { reason: 'TooLate', cause: error })
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/.test(code)) return unavailable('nothing listens on the port', 'NotListening')
  if (/UND_ERR_SOCKET|ECONNRESET|EPIPE/.test(code)) return unavailable('the connection was closed without an answer', 'Closed')
  return unavailable('what was answered is no HTTP', 'NoHttp')
}
