import type { DescMessage, DescMethodServerStreaming, MessageShape } from '@bufbuild/protobuf'
import { ChannelCredentials, Client, Metadata } from '@grpc/grpc-js'
import { Failure, type Secret, seconds } from '../../std/index.ts'
import { definitionOf } from './definition.ts'
import { failureFromStatus } from './status.ts'

export interface DialOptions {
  /** `host:port` or `grpc://host:port` for plain text, `grpcs://host:port` for TLS. */
  address: string
  /** Asked before each call, because projected service account tokens change under way. */
  token?: (() => Promise<Secret<string>>) | undefined
  /** PEM of the authorities to trust instead of the system's. */
  ca?: Uint8Array | undefined
}

export interface Connection {
  /** Calls a streaming method. The iteration throws `Failure`s; leaving it early cancels the call. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageShape<I>,
    options?: { metadata?: Record<string, string>; signal?: AbortSignal | undefined; onAccepted?: (() => void) | undefined },
  ): AsyncIterable<MessageShape<O>>
  close(): void
}

/** Below the 60 s after which load balancers cut, above the 20 s below which servers object. */
const CHANNEL = {
  'grpc.keepalive_time_ms': seconds(55),
  'grpc.keepalive_timeout_ms': seconds(20),
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_reconnect_backoff_ms': seconds(20),
} as const

export function dial({ address, token, ca }: DialOptions): Connection {
  const { target, secure } = parseAddress(address)
  const credentials = secure ? ChannelCredentials.createSsl(ca ? Buffer.from(ca) : null) : ChannelCredentials.createInsecure()
  const client = new Client(target, credentials, CHANNEL)
  return {
    async *stream(method, request, { metadata = {}, signal, onAccepted } = {}) {
      const { path, requestSerialize, responseDeserialize } = definitionOf(method)
      const headers = await headersOf(metadata, token)
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
    close: () => client.close(),
  }
}

async function headersOf(metadata: Record<string, string>, token: DialOptions['token']): Promise<Metadata> {
  const headers = new Metadata()
  for (const [key, value] of Object.entries(metadata)) headers.set(key, value)
  if (token) headers.set('authorization', `Bearer ${(await token()).reveal()}`)
  return headers
}

function parseAddress(address: string): { target: string; secure: boolean } {
  const [, scheme = 'grpc', target] = /^(?:(\w+):\/\/)?([^/]+)$/.exec(address) ?? []
  if (!target || (scheme !== 'grpc' && scheme !== 'grpcs')) {
    throw new Failure('invalid', `${address} is not an address of a gRPC server`, {
      remedy: 'Write host:port, grpc://host:port or grpcs://host:port.',
    })
  }
  return { target, secure: scheme === 'grpcs' }
}
