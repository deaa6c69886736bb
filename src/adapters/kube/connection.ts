import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { Agent, type Dispatcher } from 'undici'
import { type Clock, Failure, minutes, seconds } from '../../std/index.ts'
import { type ApiStatus, failureFromStatus } from './errors.ts'

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** The object it is about, for messages. */
  about: string
  body?: unknown
  contentType?: string
  headers?: Record<string, string | string[]>
  signal?: AbortSignal | undefined
}

/** One finished request, for metrics: the verb is the HTTP method in lower case, or `watch`. */
export type Meter = (request: { verb: string; status: number; ms: number }) => void

/** One API server and one identity: HTTP with shared, kept-alive connections. */
export interface Connection {
  readonly server: string
  json<T>(call: Call): Promise<T>
  lines(call: Call): Promise<AsyncIterable<string>>
  close(): Promise<void>
}

export interface ConnectionOptions {
  clock: Clock
  meter?: Meter | undefined
  /** How long an answer may take to begin, milliseconds. */
  timeout?: number
  /** Connections for requests; watches have their own beside them. */
  connections?: number
  /** Longest answer to a request, bytes. For servers that strangers run: one may answer without end. */
  maxBytes?: number | undefined
}

/**
 * client-node reads the kubeconfig (contexts, exec plugins, token files); the requests go through one undici Agent.
 * The library's own way opens a TLS connection for every request: 462 creates/s instead of 1,897.
 */
export function openConnection(config: KubeConfig, options: ConnectionOptions): Connection {
  const { clock, meter, timeout = seconds(30), connections = 64, maxBytes = -1 } = options
  const server = config.getCurrentCluster()?.server.replace(/\/+$/, '')
  if (!server)
    throw new Failure('invalid', 'the kubeconfig has no current cluster', {
      remedy: 'Set current-context to a context whose cluster has a server.',
    })
  const { origin, pathname } = new URL(server)
  const prefix = pathname === '/' ? '' : pathname
  const credentials = createCredentials(config, clock, { connections, maxResponseSize: maxBytes })

  const send = async (call: Call, agent: 'requests' | 'watches', verb: string) => {
    const { agents, authorization } = await credentials.current()
    const began = clock.now()
    const answer = await agents[agent]
      .request({
        origin,
        path: prefix + call.path,
        method: call.method,
        headers: {
          accept: 'application/json',
          ...(call.body !== undefined && { 'content-type': call.contentType ?? 'application/json' }),
          ...authorization,
          ...call.headers,
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal: call.signal ?? null,
        headersTimeout: timeout,
        bodyTimeout: agent === 'watches' ? 0 : timeout,
      })
      .catch((thrown: unknown) => {
        meter?.({ verb, status: 0, ms: clock.now() - began })
        throw unreachable(thrown, server, call.about)
      })
    meter?.({ verb, status: answer.statusCode, ms: clock.now() - began })
    if (answer.statusCode === 401) credentials.forget()
    if (answer.statusCode >= 300) throw await refusal(answer, call.about)
    return answer
  }

  return {
    server,
    async json<T>(call: Call) {
      const answer = await send(call, 'requests', call.method.toLowerCase())
      const text = await answer.body.text().catch((thrown: unknown) => {
        throw unreachable(thrown, server, call.about)
      })
      return parse<T>(text, call.about)
    },
    async lines(call) {
      const answer = await send(call, 'watches', 'watch')
      return splitLines(answer.body)
    },
    close: () => credentials.close(),
  }
}

interface Ready {
  agents: Record<'requests' | 'watches', Agent>
  authorization: Record<string, string>
}

/** TLS material and the authorization header, read again each minute: tokens in files and from exec plugins rotate. */
function createCredentials(config: KubeConfig, clock: Clock, limits: { connections: number; maxResponseSize: number }) {
  let agents: { key: string; pair: Ready['agents'] } | undefined
  let ready: { until: number; value: Promise<Ready> } | undefined

  const load = async (): Promise<Ready> => {
    const options: RequestOptions = {}
    await config.applyToHTTPSOptions(options)
    const tls = {
      ...(options.ca && { ca: options.ca }),
      ...(options.cert && { cert: options.cert }),
      ...(options.key && { key: options.key }),
      ...(options.rejectUnauthorized !== undefined && { rejectUnauthorized: options.rejectUnauthorized }),
      ...(options.servername && { servername: options.servername }),
    }
    const key = JSON.stringify(tls)
    if (agents?.key !== key) {
      const common = { connect: { ...tls, keepAlive: true }, allowH2: false, pipelining: 1, keepAliveTimeout: minutes(1) }
      agents = { key, pair: { requests: new Agent({ ...common, ...limits }), watches: new Agent(common) } }
    }
    return { agents: agents.pair, authorization: headersOf(options) }
  }

  return {
    current(): Promise<Ready> {
      if (!ready || ready.until <= clock.now()) ready = { until: clock.now() + minutes(1), value: load() }
      return ready.value
    },
    forget() {
      ready = undefined
    },
    async close() {
      await Promise.all(agents ? [agents.pair.requests.destroy(), agents.pair.watches.destroy()] : [])
    },
  }
}

function headersOf(options: RequestOptions): Record<string, string> {
  const { headers, auth } = options
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}
  if (!headers || Array.isArray(headers)) return basic
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return { ...basic, ...Object.fromEntries(given) }
}

function unreachable(thrown: unknown, server: string, about: string): Failure {
  const failure = Failure.from(thrown)
  if (failure.code === 'cancelled') return failure
  const code = failure.code === 'internal' ? 'unavailable' : failure.code
  return new Failure(code, `${server} did not answer: ${failure.message}`, { object: about, cause: thrown })
}

async function refusal(answer: Dispatcher.ResponseData, about: string): Promise<Failure> {
  const text = await answer.body.text().catch(() => '')
  const status = parseStatus(text)
  const wait = Number(answer.headers['retry-after'])
  if (Number.isFinite(wait) && status.details?.retryAfterSeconds === undefined)
    status.details = { ...status.details, retryAfterSeconds: wait }
  return failureFromStatus(answer.statusCode, status, about)
}

function parseStatus(text: string): ApiStatus {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : { message: text.slice(0, 200) }
  } catch {
    return text ? { message: text.slice(0, 200) } : {}
  }
}

function parse<T>(text: string, about: string): T {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('unavailable', 'the API server answered something that is not JSON', { object: about, cause })
  }
}

/** No object is this large. A server that strangers run may send a line without end. */
const LONGEST_LINE = 16 * 2 ** 20

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE)
      throw new Failure('too-large', `the answer has a line of more than ${LONGEST_LINE} characters`)
    yield* lines
  }
  if (rest) yield rest
}

/** Where a program's own kubeconfig comes from: the file, else `KUBECONFIG`, the service account of the pod, `~/.kube/config`. */
export function loadKubeConfig({ file, context }: { file?: string | undefined; context?: string | undefined } = {}): KubeConfig {
  const config = new KubeConfig()
  try {
    if (file) config.loadFromFile(file)
    else config.loadFromDefault()
    if (context) config.setCurrentContext(context)
  } catch (cause) {
    throw new Failure(
      'invalid',
      `the kubeconfig ${file ?? 'of this environment'} cannot be read: ${Failure.from(cause).message}`,
      {
        remedy: 'Name a readable file with --kubeconfig or KUBECONFIG.',
        cause,
      },
    )
  }
  return config
}
