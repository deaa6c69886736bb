import { once } from 'node:events'
import type { DescMessage, DescMethod, DescMethodServerStreaming, DescService, MessageShape } from '@bufbuild/protobuf'
import {
  logVerbosity,
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { type Clock, Failure, type Log, pause, type Secret, seconds } from '../../std/index.ts'
import { definitionOf } from './definition.ts'
import { statusFromFailure } from './status.ts'

/** One call, as a handler sees it. */
export interface Call {
  /** First value of a metadata key, `undefined` when it is absent. */
  metadata(key: string): string | undefined
  readonly peer: string
  /** Lets the caller know that all is well, before there is anything to send. */
  accept(): void
  /** Aborts when the caller hangs up, or the server stops. */
  readonly signal: AbortSignal
}

type ServerStreaming = DescMethodServerStreaming<DescMessage, DescMessage>

type Handler<M extends DescMethod> = M extends ServerStreaming
  ? (request: MessageShape<M['input']>, call: Call) => AsyncIterable<MessageShape<M['output']>>
  : never

/** Handlers by method name; the methods left out answer UNIMPLEMENTED. */
export type Implementation<S extends DescService> = { [K in keyof S['method']]?: Handler<S['method'][K]> }

/** A service together with who answers it. */
export interface Service {
  addTo(server: Server, stopping: AbortSignal, log: Log): void
}

export interface ServeOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  services: Service[]
  /** Without it the connection is plain text: loopback, or behind something that terminates TLS. */
  tls?: { certificate: Uint8Array; key: Secret<Uint8Array> } | undefined
  clock: Clock
  log: Log
}

export interface GrpcServer {
  readonly address: string
  /** Ends open calls cleanly, waits for them, then closes what is left. */
  stop(grace?: number): Promise<void>
}

/** Idle load balancers cut at 60 s, so both sides ping sooner. The age makes clients spread over new replicas. */
const CHANNEL = {
  'grpc.keepalive_time_ms': seconds(50),
  'grpc.keepalive_timeout_ms': seconds(20),
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_connection_age_ms': seconds(24 * 60),
  'grpc.max_connection_age_grace_ms': seconds(78 * 60),
  'grpc.max_receive_message_length': 4 * 2 ** 20,
} as const

export async function serveGrpc({ address, services, tls, clock, log }: ServeOptions): Promise<GrpcServer> {
  // The library would print to standard error what we throw anyway.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server(CHANNEL)
  const stopping = new AbortController()
  for (const service of services) service.addTo(server, stopping.signal, log)
  const credentials = tls
    ? ServerCredentials.createSsl(null, [
        { cert_chain: Buffer.from(tls.certificate), private_key: Buffer.from(tls.key.reveal()) },
      ])
    : ServerCredentials.createInsecure()
  const port = await bind(server, address, credentials)
  return {
    address: `${address.slice(0, address.lastIndexOf(':'))}:${port}`,
    async stop(grace = seconds(5)) {
      stopping.abort()
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      const waiting = new AbortController()
      await Promise.race([closed, pause(clock, grace, waiting.signal)])
      waiting.abort()
      server.forceShutdown()
    },
  }
}

const bind = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) reject(new Failure('unavailable', `cannot listen on ${address}: ${error.message}`, { cause: error }))
      else resolve(port)
    })
  })

export const offer = <S extends DescService>(service: S, handlers: Implementation<S>): Service => ({
  addTo(server, stopping, log) {
    const definitions = service.methods.map((method) => [method.localName, definitionOf(method)] as const)
    const answers: UntypedServiceImplementation = {}
    for (const [name, handler] of Object.entries(handlers)) answers[name] = streaming(handler as AnyHandler, stopping, log) // adapter: `offer` checked the handler against its method
    server.addService(Object.fromEntries(definitions), answers)
  },
})

type AnyHandler = (request: unknown, call: Call) => AsyncIterable<unknown>

const streaming = (handler: AnyHandler, stopping: AbortSignal, log: Log) => (call: ServerWritableStream<unknown, unknown>) => {
  const hungUp = new AbortController()
  call.once('cancelled', () => hungUp.abort())
  // Without a listener a write after the caller left would be an uncaught exception.
  call.on('error', () => hungUp.abort())
  const signal = AbortSignal.any([stopping, hungUp.signal])
  let accepted = false
  const accept = () => {
    if (!accepted) call.sendMetadata(new Metadata())
    accepted = true
  }
  const view: Call = { metadata: (key) => textOf(call.metadata.get(key)[0]), peer: call.getPeer(), accept, signal }
  void pump(handler(call.request, view), call, hungUp.signal, (failure) => {
    log.error('A call failed', { method: call.getPath(), error: failure })
  })
}

const textOf = (value: string | Buffer | undefined): string | undefined => (value === undefined ? undefined : value.toString())

/** Writes at the caller's pace, so that a slow reader costs one message of memory, not a repository. */
async function pump(
  messages: AsyncIterable<unknown>,
  call: ServerWritableStream<unknown, unknown>,
  hungUp: AbortSignal,
  report: (failure: Failure) => void,
): Promise<void> {
  try {
    for await (const message of messages) {
      if (hungUp.aborted) return
      if (!call.write(message)) await once(call, 'drain', { signal: hungUp })
    }
    call.end()
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (hungUp.aborted) return
    if (failure.code === 'internal') report(failure)
    call.emit('error', statusFromFailure(failure))
  }
}
