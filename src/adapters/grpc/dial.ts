import type {
  DescMessage,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageShape,
} from '@bufbuild/protobuf'
import { Client, type ClientOptions, compressionAlgorithms, type Metadata, type MethodDefinition } from '@grpc/grpc-js'
import { type Clock, type Secret, seconds, systemClock } from '../../std/index.ts'
import './pings.ts'
import { parseAddress } from './address.ts'
import { credentialsFor, type Trust } from './credentials.ts'
import { definitionOf, rawDefinition, WINDOW } from './definition.ts'
import { type Duplex, duplexOf } from './duplex.ts'
import { metadataOf, type TextMetadata } from './metadata.ts'
import { failureFromStatus } from './status.ts'

export interface DialOptions extends Trust {
  /**
   * `host:port` or `grpc://host:port` for plain text, `grpcs://host:port` for TLS, `ws://host:port/path` or `wss://host:port/path`
   * for gRPC in a WebSocket, which passes where HTTP/2 does not. Ports are 80 and 443 where none is written.
   */
  address: string
  /** Asked before each call, because projected service account tokens change under way. */
  token?: (() => Promise<Secret<string>>) | undefined
  /** For those who stand in between: sent with the request for a WebSocket, else as metadata of each call. */
  headers?: TextMetadata | undefined
  /** The first word of the user agent. */
  userAgent?: string | undefined
  /** Compresses what is sent. What comes compressed is always understood. */
  gzip?: boolean | undefined
  /** One connection to each address of the host, with calls in turn, instead of one connection to one of them. Not for WebSockets. */
  everyAddress?: boolean | undefined
  /** The longest wait before a connection that was lost is tried again, milliseconds; 20 s without it. */
  reconnectWithin?: number | undefined
  /** By which a server that takes the connection and does not answer is given up. */
  clock?: Clock | undefined
}

export interface CallOptions {
  metadata?: TextMetadata | undefined
  signal?: AbortSignal | undefined
}

export interface GrpcConnection {
  /** Throws `Failure`s, like all of them. */
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    options?: CallOptions,
  ): Promise<MessageShape<O>>
  /** Calls a streaming method. Leaving the iteration early cancels the call. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageShape<I>,
    options?: CallOptions & {
      onAccepted?: (() => void) | undefined
      /** Waits for a server that is away, instead of failing. */
      patient?: boolean | undefined
    },
  ): AsyncIterable<MessageShape<O>>
  /** Messages both ways, at each side's own pace. */
  duplex<I extends DescMessage, O extends DescMessage>(
    method: DescMethodBiDiStreaming<I, O>,
    options?: CallOptions,
  ): Promise<Duplex<MessageShape<I>, MessageShape<O>>>
  /** The same for a method, `/service/method`, whose messages are none of our business. */
  duplexRaw(path: string, options?: CallOptions): Promise<Duplex<Uint8Array, Uint8Array>>
  close(): void
}

/** Below the 60 s after which load balancers cut, above the 20 s below which servers object. */
const CHANNEL = {
  'grpc.keepalive_time_ms': seconds(55),
  'grpc.keepalive_timeout_ms': seconds(20),
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_reconnect_backoff_ms': seconds(20),
  'grpc.enable_channelz': 0,
  'grpc-node.flow_control_window': WINDOW,
} as const

export function dial(to: DialOptions): GrpcConnection {
  const { token } = to
  const { target, client, metadata: always } = openClient(to)
  const headersOf = async (metadata: TextMetadata | undefined, patient = false): Promise<Metadata> => {
    const headers = metadataOf({ ...always, ...metadata })
    headers.setOptions({ waitForReady: patient })
    if (token) headers.set('authorization', `Bearer ${(await token()).reveal()}`)
    return headers
  }
  const open = async <I, O>(definition: MethodDefinition<I, O>, { metadata, signal }: CallOptions = {}) => {
    const headers = await headersOf(metadata)
    const { path, requestSerialize, responseDeserialize } = definition
    return duplexOf(client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers), target, signal)
  }
  return {
    async unary(method, request, { metadata, signal } = {}) {
      const headers = await headersOf(metadata)
      signal?.throwIfAborted()
      const { path, requestSerialize, responseDeserialize } = definitionOf(method)
      return new Promise((resolve, reject) => {
        const call = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, headers, (error, response) => {
          signal?.removeEventListener('abort', cancel)
          if (response) resolve(response)
          else reject(failureFromStatus(error, target))
        })
        const cancel = () => call.cancel()
        signal?.addEventListener('abort', cancel, { once: true })
      })
    },
    async *stream(method, request, { metadata, signal, onAccepted, patient } = {}) {
      const { path, requestSerialize, responseDeserialize } = definitionOf(method)
      const headers = await headersOf(metadata, patient)
      // An abort that came while the token was read would never be heard of again.
      if (signal?.aborted) return
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, headers)
      const cancel = () => call.cancel()
      if (onAccepted) call.once('metadata', onAccepted)
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        yield* call
      } catch (thrown) {
        throw failureFromStatus(thrown, target)
      } finally {
        signal?.removeEventListener('abort', cancel)
        cancel()
      }
    },
    duplex: (method, options) => open(definitionOf(method), options),
    duplexRaw: (path, options) => open(rawDefinition(path), options),
    close: () => client.close(),
  }
}

const ROUND_ROBIN = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] })

function openClient(options: DialOptions): { target: string; client: Client; metadata: TextMetadata } {
  const { serverName, userAgent, gzip, everyAddress, reconnectWithin, headers = {}, clock = systemClock } = options
  const address = parseAddress(options.address)
  const isWebSocket = address.scheme === 'ws' || address.scheme === 'wss'
  const joined = Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values.join(',')] as const)
  const upgrade = Object.fromEntries(userAgent ? [['user-agent', userAgent], ...joined] : joined)
  const channel: ClientOptions = {
    ...CHANNEL,
    ...(reconnectWithin ? { 'grpc.max_reconnect_backoff_ms': reconnectWithin } : {}),
    ...(serverName && address.scheme === 'grpcs' ? { 'grpc.ssl_target_name_override': serverName } : {}),
    ...(userAgent ? { 'grpc.primary_user_agent': userAgent } : {}),
    ...(gzip ? { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip } : {}),
    ...(everyAddress && !isWebSocket ? { 'grpc.service_config': ROUND_ROBIN } : {}),
  }
  return {
    target: address.authority,
    client: new Client(`dns:${address.authority}`, credentialsFor(address, options, upgrade, clock), channel),
    metadata: isWebSocket ? {} : Object.fromEntries(joined.map(([name, value]) => [name, [value]])),
  }
}
