import { once } from 'node:events'
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as plainRequest } from 'node:http'
import { Agent as HttpsAgent, request as tlsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Clock, Failure, seconds } from '../../std/index.ts'
import { loadKubeConfig, serverOf } from './connection.ts'
import { createCredentials } from './credentials.ts'
import type { TlsOptions } from './multiplex.ts'
import { unreachable } from './no-answer.ts'
import { asHeader } from './paths.ts'

/** Names in lower case or Go's canonical form; values in order. */
export type HttpHeaders = Readonly<Record<string, readonly string[]>>

/** A request of somebody else. */
interface PassageRequest {
  method: string
  /** Path and query, ready to be sent; below the path of the server. */
  target: string
  headers: HttpHeaders
  /** `undefined`: there is none. */
  body: AsyncIterable<Uint8Array> | undefined
  /** It asks to speak another protocol from then on; the headers say which. */
  upgrades: boolean
  signal: AbortSignal
}

export interface PassageAnswer {
  status: number
  reason: string
  /** Such as `HTTP/1.1`. */
  protocol: string
  headers: HttpHeaders
  /** Read at the caller's pace. After status 101, what comes in the other protocol. */
  body: AsyncIterable<Uint8Array>
  /** After status 101: takes bytes in the other protocol; `undefined` ends them. Resolves when more may come. */
  send(bytes: Uint8Array | undefined): Promise<void>
}

export type Passage = ReturnType<typeof openPassage>

/** A server that nobody answers for is given up after it. */
const CONNECT_WITHIN = seconds(30)

/**
 * Lets requests of others through to the API server, with the credentials of the kubeconfig and otherwise as they are. undici cannot
 * show the answer to a refused upgrade, so requests go by Node's own client.
 */
export function openPassage(from: { kubeconfig?: string | undefined; context?: string | undefined; clock: Clock }) {
  const config = loadKubeConfig({ file: from.kubeconfig, context: from.context })
  const { server, url } = serverOf(config)
  const credentials = createCredentials(config, { clock: from.clock }, { connections: 1, isStrange: false })
  const prefix = url.pathname === '/' ? '' : url.pathname
  const isSecure = url.protocol === 'https:'
  const options = { keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo' as const }
  let pool: { tls: TlsOptions; agent: HttpAgent } | undefined

  const agentFor = (tls: TlsOptions): HttpAgent => {
    if (pool?.tls === tls) return pool.agent
    // What is under way over the older ones goes on; they are not used again.
    const agent = isSecure ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options)
    pool = { tls, agent }
    return agent
  }

  const attempt = async (request: PassageRequest): Promise<PassageAnswer> => {
    const { tls, authorization } = await credentials.current()
    refuseNested(request.headers, authorization)
    const sent = (isSecure ? tlsRequest : plainRequest)({
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (isSecure ? 443 : 80),
      method: request.method,
      path: prefix + request.target,
      headers: { ...written(request.headers), ...authorization },
      agent: agentFor(tls),
      signal: request.signal,
    })
    const answer = await exchange(sent, request).catch((thrown: unknown) => {
      if (sent.reusedSocket && isResent(request, thrown)) return attempt(request)
      throw unreachable(thrown, { server, about: `${request.method} request`, isQuoted: true })
    })
    if (answer.status === 401) credentials.forget()
    return answer
  }

  return {
    /** Any answer is one, redirects too. Fails with a `Failure` when there is none; the signal ends also what is under way. */
    open: attempt,
    async close(): Promise<void> {
      pool?.agent.destroy()
      await credentials.close()
    },
  }
}

/** An idle connection that the server closed in the same moment: nothing was done, and it may be asked again. */
const isResent = ({ method, body }: PassageRequest, thrown: unknown): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  body === undefined &&
  thrown instanceof Error &&
  'code' in thrown &&
  (thrown.code === 'ECONNRESET' || thrown.code === 'EPIPE')

/** The kubeconfig says as whom to act: a request that says another would be somebody else's with this one's rights. */
function refuseNested(headers: HttpHeaders, authorization: Record<string, string>): void {
  const impersonates = (names: object) => Object.keys(names).some((name) => name.toLowerCase().startsWith('impersonate-'))
  if (impersonates(authorization) && impersonates(headers))
    throw new Failure('unavailable', 'nested impersonation: the kubeconfig of the agent impersonates already', {
      reason: 'NestedImpersonation',
      remedy: 'Remove `as` from the kubeconfig of the agent, or access_as from its configuration.',
    })
}

function exchange(sent: ClientRequest, request: PassageRequest): Promise<PassageAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PassageAnswer>()
  sent.setNoDelay(true)
  sent.setTimeout(CONNECT_WITHIN, () => sent.destroy(new Failure('timeout', `no connection within ${CONNECT_WITHIN / 1000} s`)))
  sent.once('socket', (socket) => {
    const calm = () => sent.setTimeout(0)
    if (socket.connecting) socket.once('connect', calm)
    else calm()
  })
  sent.on('error', reject)
  sent.once('response', (response) => resolve(answerOf(response, response)))
  sent.once('upgrade', (response, socket, first: Buffer) => {
    // The request is over for Node, and hears of the signal no more.
    const cut = () => void socket.destroy()
    request.signal.addEventListener('abort', cut, { once: true })
    socket.once('close', () => request.signal.removeEventListener('abort', cut))
    if (!request.upgrades || request.signal.aborted) cut()
    if (first.length > 0) socket.unshift(first)
    resolve(answerOf(response, socket))
  })
  void pour(request.body, sent)
  return promise
}

/** At the server's pace. A server that has answered already need not take the rest. */
async function pour(body: PassageRequest['body'], sent: ClientRequest): Promise<void> {
  const over = new AbortController()
  sent.once('close', () => over.abort())
  try {
    for await (const chunk of body ?? []) {
      if (over.signal.aborted) return
      if (!sent.write(chunk)) await once(sent, 'drain', { signal: over.signal })
    }
    sent.end()
  } catch (thrown) {
    if (!over.signal.aborted) sent.destroy(Failure.from(thrown))
  }
}

function answerOf(response: IncomingMessage, stream: IncomingMessage | Duplex): PassageAnswer {
  const headers: Record<string, string[]> = Object.create(null)
  for (let at = 0; at + 1 < response.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = response.rawHeaders.slice(at, at + 2)
    headers[name.toLowerCase()] = [...(headers[name.toLowerCase()] ?? []), value]
  }
  const over = new AbortController()
  stream.once('close', () => over.abort())
  // An end that nobody reads any more is no uncaught exception.
  stream.on('error', () => undefined)
  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage ?? '',
    protocol: `HTTP/${response.httpVersion}`,
    headers,
    body: stream,
    async send(bytes) {
      if (!('write' in stream) || over.signal.aborted) return
      if (bytes === undefined) stream.end()
      else if (!stream.write(bytes)) await once(stream, 'drain', { signal: over.signal }).catch(() => undefined)
    },
  }
}

const written = (headers: HttpHeaders): Record<string, string[]> =>
  Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.map(asHeader)]))
