import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { Failure, minutes, seconds } from '../../std/index.ts'

/** Names and values in turn, as they stand in a message. */
export type FlatHeaders = readonly string[]

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
export interface Errand {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly to: Upstream
  /** Path and query. */
  readonly target: string
  /** What is sent, the host among it; nothing that is between two neighbours only. */
  readonly headers: FlatHeaders
  /** What the visitor gets of the answer's headers. */
  readonly answerHeaders: (headers: FlatHeaders) => string[]
}

/**
 * Passes requests on to servers that are trusted with nothing, and their answers back, as streams at the pace of the slower side.
 * Connections to a server are kept while it is used.
 */
export interface Forwarder {
  /**
   * Resolves when the answer is over, or the visitor has hung up. A failure before the first byte of an answer is thrown, and the
   * response is still to be written; after it, the visitor is hung up on, so that what he has does not look whole.
   */
  pass(errand: Errand): Promise<void>
  stop(): Promise<void>
}

export interface ForwarderOptions {
  /** Until the server has taken the connection, milliseconds. */
  connectTimeout?: number
  /** Until it begins to answer. */
  answerTimeout?: number
}

export function createForwarder({ connectTimeout = seconds(5), answerTimeout = minutes(10) }: ForwarderOptions = {}): Forwarder {
  const ways = createWays()
  const agent = new Agent({
    connect: ways.over(buildConnector({ timeout: connectTimeout, autoSelectFamily: false })),
    headersTimeout: answerTimeout,
    // Streams of events may be silent for as long as they like.
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
    pipelining: 1,
    // Servers of developers close theirs after five seconds, as Node does.
    keepAliveTimeout: seconds(4),
    allowH2: false,
  })
  const once = (errand: Errand) => new Promise<void>((resolve, reject) => dispatch(agent, errand, { resolve, reject }))
  return {
    async pass(errand) {
      const leave = ways.enter(errand.to)
      try {
        await once(errand)
      } catch (thrown) {
        // The server may have closed a kept connection in the same moment. What has no body can be said again.
        if (!isRepeatable(errand, thrown)) throw thrown
        await once(errand)
      } finally {
        leave()
      }
    },
    stop: () => agent.destroy(),
  }
}

/** How to get to upstreams that have no address, while requests are on their way there. */
function createWays() {
  const ways = new Map<string, { open: () => Promise<Duplex>; users: number }>()
  return {
    enter(to: Upstream): () => void {
      const { open } = to
      if (!open) return () => undefined
      const { host } = new URL(originOf(to))
      const way = { open, users: (ways.get(host)?.users ?? 0) + 1 }
      ways.set(host, way)
      return () => {
        const now = ways.get(host)
        if (now && --now.users === 0) ways.delete(host)
      }
    },
    /** What is no such upstream is reached by that connector. */
    over:
      (connect: buildConnector.connector): buildConnector.connector =>
      (options, done) => {
        const way = ways.get(options.host ?? '')
        if (!way) return connect(options, done)
        way.open().then(
          (line) => done(null, line as Socket), // as: undici treats it as the stream that it is
          (thrown: unknown) => done(Failure.from(thrown), null),
        )
      },
  }
}

const isRepeatable = ({ request, response }: Errand, thrown: unknown): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') &&
  !hasBody(request) &&
  !response.headersSent &&
  !response.destroyed &&
  thrown instanceof Failure &&
  thrown.reason === 'Closed'

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0')

interface End {
  resolve: () => void
  reject: (failure: Failure) => void
}

function dispatch(agent: Agent, errand: Errand, { resolve, reject }: End): void {
  const { request, response, to, target, headers } = errand
  const leaving: Leaving = { controller: undefined }
  const onClose = () => {
    if (!response.writableFinished) leaving.controller?.abort(new Failure('cancelled', 'the visitor has hung up'))
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
      handlerOf(errand, { leaving, failed }),
    )
  } catch (thrown) {
    failed(thrown instanceof Error ? thrown : new Failure('internal', String(thrown)))
  }
}

interface Leaving {
  controller: Dispatcher.DispatchController | undefined
}

function handlerOf(
  { response, answerHeaders }: Errand,
  { leaving, failed }: { leaving: Leaving; failed: (error: Error) => void },
): Dispatcher.DispatchHandler {
  let written = false
  return {
    onRequestStart(controller) {
      leaving.controller = controller
      if (response.destroyed) controller.abort(new Failure('cancelled', 'the visitor has hung up'))
    },
    onResponseStart(controller, status, _headers, text) {
      // 100 and 103 are between neighbours; 101 was not asked for.
      if (status < 200) return
      response.writeHead(status, textOf(status, text), answerHeaders(flatOf(controller.rawHeaders)))
      // Whoever waits for events wants to know at once that they will come; a short answer goes out in one piece with its head.
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

/** Not the stream itself: whoever is done with that destroys the connection of the visitor. */
async function* bodyOf(request: IncomingMessage, response: ServerResponse): AsyncGenerator<Uint8Array> {
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

const CLOSED = /UND_ERR_SOCKET|ECONNRESET|EPIPE/
const REFUSED = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/

/** In words that say nothing of addresses. */
export function failureOf(error: Error): Failure {
  const code = 'code' in error ? String(error.code) : ''
  if (error instanceof Failure) return error
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new Failure('timeout', 'nothing answers on the port', { reason: 'TooLate', cause: error })
  if (REFUSED.test(code))
    return new Failure('unavailable', 'nothing listens on the port', { reason: 'NotListening', cause: error })
  if (CLOSED.test(code))
    return new Failure('unavailable', 'the connection was closed without an answer', { reason: 'Closed', cause: error })
  return new Failure('unavailable', 'what was answered is no HTTP', { reason: 'NoHttp', cause: error })
}
