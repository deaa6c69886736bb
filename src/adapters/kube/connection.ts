import type { LookupFunction } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { type Clock, Failure, type Secret, seconds, within, withoutEnd } from '../../std/index.ts'
import { type AnswerShare, ownShare } from './answers.ts'
import { createCredentials } from './credentials.ts'
import { type ApiStatus, failureFromStatus, type Refuse } from './errors.ts'
import { hasMoreMarks } from './marks.ts'
import { unreachable } from './no-answer.ts'
import type { ConnectionGate } from './reach.ts'
import { firstBytesOf, splitLines, textWithin } from './reading.ts'
import { failureFromStranger } from './stranger.ts'
import { type KubeSocket, openSocket, socketIn } from './web-socket.ts'

export interface ApiCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** The object it is about, for messages. */
  about: string
  body?: unknown
  contentType?: string
  headers?: Record<string, string | string[]>
  signal?: AbortSignal | undefined
  /** Of an answer of the own cluster. */
  mostBytes?: number | undefined
  /** Of a stream: one of very many, which share a connection where the server can. */
  shared?: boolean | undefined
}

/** One finished request, for metrics: the verb is the HTTP method in lower case, or `watch`. */
export type Meter = (request: { verb: string; status: number; ms: number }) => void

/** One API server and one identity: HTTP with shared, kept-alive connections. */
export interface KubeConnection {
  readonly server: string
  json<T>(call: ApiCall): Promise<T>
  lines(call: ApiCall): Promise<AsyncIterable<string>>
  /** Goes on by messages both ways, in one of these protocols. */
  socket(call: ApiCall, protocols: string[]): Promise<KubeSocket>
  /** Somebody else's server: what it answers is bounded. */
  readonly isStrange: boolean
  readonly refuse: Refuse
  close(): Promise<void>
}

export interface ConnectionOptions {
  clock: Clock
  meter?: Meter | undefined
  /** How long an answer may take to begin, milliseconds. */
  timeout?: number
  /** Connections for requests; watches have their own beside them. */
  connections?: number
  /** Bounds what is held of answers. For servers that strangers run: one may answer without end. */
  openShare?: (() => AnswerShare) | undefined
  /** Its words may be shown to the person who named it. */
  isQuoted?: boolean | undefined
  /** Instead of what the kubeconfig says: asked before each request, for tokens that change under way. */
  token?: (() => Promise<Secret<string>>) | undefined
  /** Judges each address before it is connected to; all are allowed without it. */
  gate?: ConnectionGate | undefined
}

/**
 * client-node reads the kubeconfig (contexts, exec plugins, token files); the requests go through one undici Agent.
 * The library's own way opens a TLS connection for every request: 462 creates/s instead of 1,897.
 */
export function openConnection(config: KubeConfig, options: ConnectionOptions): KubeConnection {
  const { clock, timeout = seconds(30), connections = 64, openShare, isQuoted = true, gate, token } = options
  const { server, url } = serverOf(config)
  gate?.judge(url)
  const { origin, pathname } = url
  const prefix = pathname === '/' ? '' : pathname
  const lookup = gate?.lookupFor(url)
  const credentials = createCredentials(config, { clock, token }, { connections, lookup, isStrange: openShare !== undefined })
  const unheard = (thrown: unknown, about: string) => unreachable(thrown, { server, about, isQuoted })
  const refuse = isQuoted ? failureFromStatus : failureFromStranger
  const heard = createHearing(options, unheard, refuse, () => credentials.forget())

  const send = async (call: ApiCall, agent: 'requests' | 'watches', verb: string) => {
    const { agents, authorization } = await credentials.current()
    const coming = agents[agent].request({
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
    return heard(coming, call.about, verb)
  }

  const openShared = async (call: ApiCall) => {
    const { agents, authorization } = await credentials.current()
    const coming = agents.streams.open({
      url: new URL(prefix + call.path, origin),
      headers: { accept: 'application/json', ...authorization, ...call.headers },
      timeout,
      signal: call.signal,
    })
    return heard(coming, call.about, 'watch')
  }

  const ask = async <T>(call: ApiCall, share: AnswerShare): Promise<T> => {
    await share.ready(call.signal)
    const { body } = await send(call, 'requests', call.method.toLowerCase())
    const text = await textWithin(share, body, call.signal).catch((thrown: unknown) => {
      throw unheard(thrown, call.about)
    })
    // Many answers may have come since it was asked for.
    await share.ready(call.signal)
    return parse<T>(text, call.about, share)
  }

  return {
    server,
    async json<T>(call: ApiCall) {
      if (!openShare) return ask<T>(call, ownShare(call.mostBytes))
      const share = openShare()
      try {
        return await within(timeout * WHOLE, call.signal, (signal) => ask<T>({ ...call, signal }, share))
      } finally {
        share.clear()
      }
    },
    async lines(call) {
      const share = openShare?.()
      await share?.ready(call.signal)
      const shared = call.shared && url.protocol === 'https:' ? await openShared(call) : undefined
      const { body } = shared ?? (await send(call, 'watches', 'watch'))
      if (!share) return splitLines(body)
      const end = () => body.destroy(new Failure('timeout', `a line of ${call.about} did not end in time`))
      return splitLines(body, { share, signal: call.signal, hurry: () => clock.after(timeout * WHOLE, end) })
    },
    socket: createSockets({ origin, prefix, credentials, lookup, timeout, clock }, heard),
    isStrange: openShare !== undefined,
    refuse,
    close: () => credentials.close(),
  }
}

export function serverOf(config: KubeConfig): { server: string; url: URL } {
  const server = withoutEnd(config.getCurrentCluster()?.server ?? '', '/')
  if (!server)
    throw new Failure(
      'invalid',
      `the kubeconfig's current-context "${config.getCurrentContext() ?? ''}" leads to no cluster with a server`,
      {
        remedy: `Set current-context to one that does: ${config.contexts.map(({ name }) => name).join(', ') || 'there is none yet'}.`,
      },
    )
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return { server, url }
  throw new Failure('invalid', "the kubeconfig's clusters[].cluster.server is no https:// URL", {
    reason: 'UnableToCreateClient',
    remedy: 'Write the URL of the Kubernetes API there.',
  })
}

/** Waits for an answer, whatever way it comes, and meters it. Throws what is none, and refusals. */
function createHearing(
  { clock, meter }: ConnectionOptions,
  unheard: (thrown: unknown, about: string) => Failure,
  refuse: Refuse,
  onUnauthorized: () => void,
) {
  return async <T extends Refusal | undefined>(coming: Promise<T>, about: string, verb: string): Promise<T> => {
    const began = clock.now()
    const answer = await coming.catch((thrown: unknown) => {
      meter?.({ verb, status: 0, ms: clock.now() - began })
      throw unheard(thrown, about)
    })
    if (!answer) return answer
    meter?.({ verb, status: answer.statusCode, ms: clock.now() - began })
    if (answer.statusCode === 401) onUnauthorized()
    if (answer.statusCode >= 300) throw refuse(answer.statusCode, await statusOf(answer), about)
    return answer
  }
}

interface SocketFrame {
  origin: string
  prefix: string
  credentials: ReturnType<typeof createCredentials>
  lookup: LookupFunction | undefined
  timeout: number
  clock: Clock
}

const createSockets =
  ({ origin, prefix, credentials, ...rest }: SocketFrame, heard: ReturnType<typeof createHearing>): KubeConnection['socket'] =>
  async ({ path, headers, about, signal }, protocols) => {
    const { tls, authorization } = await credentials.current()
    const to = { url: new URL(prefix + path, origin), headers: { ...authorization, ...headers } }
    return socketIn(await heard(openSocket({ ...rest, ...to, tls, protocols, signal }), about, 'socket'), about)
  }

/** Until an answer of a stranger has ended, in times of what it may take to begin. */
const WHOLE = 6

/** The parts of an answer that a refusal is read from. */
interface Refusal {
  statusCode: number
  headers: Record<string, string | string[] | undefined>
  body: AsyncIterable<Uint8Array>
}

async function statusOf(answer: Refusal): Promise<ApiStatus> {
  const status = parseStatus(await firstBytesOf(answer.body))
  const wait = Number(answer.headers['retry-after'])
  if (Number.isFinite(wait) && status.details?.retryAfterSeconds === undefined)
    status.details = { ...status.details, retryAfterSeconds: wait }
  return status
}

/** An invalid object may have a thousand causes, and they have fewer. */
const MOST_MARKS_OF_STATUS = 4096

function parseStatus(text: string): ApiStatus {
  if (hasMoreMarks(text, MOST_MARKS_OF_STATUS)) return { message: text.slice(0, 200) }
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : { message: text.slice(0, 200) }
  } catch {
    return text ? { message: text.slice(0, 200) } : {}
  }
}

function parse<T>(text: string, about: string, share: AnswerShare): T {
  const began = performance.now()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('unavailable', 'the API server answered something that is not JSON', { object: about, cause })
  } finally {
    share.spend(performance.now() - began)
  }
}

/** The namespace of the current context: where whoever names none means to be. */
export function namespaceIn(from: { kubeconfig?: string | undefined; context?: string | undefined }): string {
  const config = loadKubeConfig({ file: from.kubeconfig, context: from.context })
  return config.getContextObject(config.getCurrentContext())?.namespace || 'default'
}

/** Reads a program's own kubeconfig: the file, else `KUBECONFIG`, the service account of the pod, `~/.kube/config`. */
export function loadKubeConfig({ file, context }: { file?: string | undefined; context?: string | undefined } = {}): KubeConfig {
  const config = new KubeConfig()
  try {
    if (file) config.loadFromFile(file)
    else config.loadFromDefault()
    if (context) config.setCurrentContext(context)
  } catch (thrown) {
    // What a YAML parser says quotes the file, which holds secrets: so the cause is left out, too.
    const { message } = Failure.from(thrown)
    const [, line, column] = /\((\d+):(\d+)\)/.exec(message) ?? []
    const why = line ? `line ${line}, column ${column} is no YAML` : message
    throw new Failure('invalid', `the kubeconfig ${file ?? 'of this environment'} cannot be read: ${why}`, {
      remedy: 'Name a readable file with --kubeconfig or KUBECONFIG.',
    })
  }
  if (!file && isMadeUp(config))
    throw new Failure('not-found', 'there is no kubeconfig, and no service account of a pod', {
      remedy: 'Name a kubeconfig with --kubeconfig or KUBECONFIG; `berth up` makes one with a cluster of its own.',
    })
  if (context && !config.getContextObject(context))
    throw new Failure('not-found', `the kubeconfig ${file ?? 'of this environment'} has no context "${context}"`, {
      remedy: `Name one of ${config.contexts.map(({ name }) => name).join(', ') || 'another kubeconfig'} with --context.`,
    })
  return config
}

/** A client that finds nothing makes up a cluster without TLS on this machine. */
const isMadeUp = (config: KubeConfig): boolean => config.getCurrentCluster()?.server === 'http://localhost:8080'
