import { type EventEmitter, once } from 'node:events'
import { constants } from 'node:http2'
import { setImmediate as breathe } from 'node:timers/promises'
import type {
  DescMessage,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageShape,
} from '@bufbuild/protobuf'
import {
  Metadata,
  type MethodDefinition,
  type Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js'
import { Failure, type Log, unlessAborted } from '../../std/index.ts'
import { definitionOf, rawDefinition } from './definition.ts'
import { metadataOf, type TextMetadata, textOf } from './metadata.ts'
import { CallEnded, statusFromFailure } from './status.ts'

/** One call, as a handler sees it. */
export interface Call {
  /** First value of a metadata key, `undefined` when it is absent. */
  metadata(key: string): string | undefined
  /** All of it that is text. */
  readonly text: TextMetadata
  readonly peer: string
  /** `/service/method` */
  readonly path: string
  /** Lets the caller know that all is well, before there is anything to send. */
  accept(header?: TextMetadata): void
  /** Sent when the call ends, also when it fails. */
  setTrailer(trailer: TextMetadata): void
  /** Resolves when nothing of what was written is still here, where it costs memory; also when the signal aborts. */
  flushed(signal: AbortSignal): Promise<void>
  /** Aborts when the caller hangs up, or the server stops. */
  readonly signal: AbortSignal
  /** Aborts when the caller hangs up; a server that stops still lets calls end by themselves for a while. */
  readonly hungUp: AbortSignal
  /** Ends the call at once as cancelled, also when the caller does not read what was sent. */
  hangUp(): void
}

type Unary = DescMethodUnary<DescMessage, DescMessage>
type ServerStreaming = DescMethodServerStreaming<DescMessage, DescMessage>
type BiDiStreaming = DescMethodBiDiStreaming<DescMessage, DescMessage>

type Handler<M extends DescMethod> = M extends Unary
  ? (request: MessageShape<M['input']>, call: Call) => Promise<MessageShape<M['output']>>
  : M extends ServerStreaming
    ? (request: MessageShape<M['input']>, call: Call) => AsyncIterable<MessageShape<M['output']>>
    : M extends BiDiStreaming
      ? (requests: AsyncIterable<MessageShape<M['input']>>, call: Call) => AsyncIterable<MessageShape<M['output']>>
      : never

/** Handlers by method name; the methods left out answer UNIMPLEMENTED. */
export type Implementation<S extends DescService> = { [K in keyof S['method']]?: Handler<S['method'][K]> }

/** Answers a method without knowing its messages. */
export type RawHandler = (requests: AsyncIterable<Uint8Array>, call: Call) => AsyncIterable<Uint8Array>

/** Hears of each call by its path, and then how it ended: OK, CANCELLED, UNAVAILABLE, … */
export type CallMeter = (path: string) => (code: string) => void

/** Lets a call in when its headers are here, before anything of its messages is read; throws otherwise. */
export type Door = (call: Pick<Call, 'metadata' | 'peer' | 'path'>) => void | Promise<void>

/** How a path is guarded. */
export interface Guarded {
  door: Door | undefined
  /** The library reads its one message whole before it asks the handler. */
  isReadFirst: boolean
}

/** Handlers need this of the server that they are in. */
export interface ServerContext {
  guard(path: string, guarded: Guarded): void
  stopping: AbortSignal
  log: Log
  onCall: CallMeter
}

/** A service together with who answers it. */
export interface GrpcService {
  addTo(server: Server, around: ServerContext): void
}

/** Also the methods that are left out have the door before them: they too are read before they are answered. */
export const offer = <S extends DescService>(service: S, handlers: Implementation<S>, door?: Door): GrpcService => ({
  addTo(server, around) {
    const methods = new Map<string, DescMethod>(service.methods.map((method) => [method.localName, method]))
    const answers: Record<string, UntypedHandleCall> = {}
    for (const [name, handler] of Object.entries(handlers)) {
      const kind = methods.get(name)?.methodKind
      answers[name] = answering(kind, handler as AnyHandler, around) // adapter: `offer` checked the handler against its method
    }
    const definitions = [...methods].map(([name, method]) => [name, definitionOf(method)] as const)
    for (const [, { path, requestStream }] of definitions) around.guard(path, { door, isReadFirst: !requestStream })
    server.addService(Object.fromEntries(definitions), answers)
  },
})

/** Answers methods of any service, named `/service/method`, as streams of bytes in both directions. */
export const offerRaw = (paths: readonly string[], handler: RawHandler, door?: Door): GrpcService => ({
  addTo(server, around) {
    const definitions: Record<string, MethodDefinition<Uint8Array, Uint8Array>> = {}
    const answers: Record<string, UntypedHandleCall> = {}
    for (const path of paths) {
      definitions[path] = rawDefinition(path)
      around.guard(path, { door, isReadFirst: false })
      answers[path] = answering('bidi_streaming', handler as AnyHandler, around) // adapter: bytes are what the raw definition brings
    }
    server.addService(definitions, answers)
  },
})

type AnyHandler = (request: unknown, call: Call) => AsyncIterable<unknown> & Promise<unknown>
type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'getPeer' | 'getPath' | 'sendMetadata'> & EventEmitter

function answering(kind: DescMethod['methodKind'] | undefined, handler: AnyHandler, around: ServerContext): UntypedHandleCall {
  if (kind === 'unary')
    return (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>) => {
      const { view, trailer, over } = viewOf(call, around)
      handler(call.request, view).then(
        (response) => {
          over(status.OK)
          done(null, response, trailer())
        },
        (thrown: unknown) => {
          const end = statusFor(thrown, call, trailer(), around)
          over(end.code)
          done(end)
        },
      )
    }
  if (kind === 'server_streaming')
    return (call: ServerWritableStream<unknown, unknown>) => {
      const opened = viewOf(call, around)
      void pump(handler(call.request, opened.view), call, opened, around)
    }
  return (call: ServerDuplexStream<unknown, unknown>) => {
    const opened = viewOf(call, around)
    void pump(handler(requestsOf(call), opened.view), call, opened, around)
  }
}

function viewOf(call: AnyCall, { stopping, onCall }: ServerContext) {
  const hungUp = new AbortController()
  const ended = onCall(call.getPath())
  let isOver = false
  /** The first word counts. */
  const over = (code: status) => {
    if (!isOver) ended(status[code] ?? 'UNKNOWN')
    isOver = true
  }
  const leave = () => {
    over(status.CANCELLED)
    hungUp.abort()
  }
  call.once('cancelled', leave)
  // Without a listener a write after the caller left would be an uncaught exception.
  call.on('error', leave)
  let accepted = false
  let trailer = new Metadata()
  let signal: AbortSignal | undefined
  const underway = createUnderway()
  const view: Call = {
    metadata: (key) => call.metadata.get(key)[0]?.toString(),
    get text() {
      return textOf(call.metadata)
    },
    peer: call.getPeer(),
    path: call.getPath(),
    accept(header = {}) {
      if (!accepted) call.sendMetadata(metadataOf(header))
      accepted = true
    },
    setTrailer(given) {
      trailer = metadataOf(given)
    },
    flushed: underway.flushed,
    // Most never ask for it.
    get signal() {
      signal ??= AbortSignal.any([stopping, hungUp.signal])
      return signal
    },
    hungUp: hungUp.signal,
    hangUp: () => reset(call),
  }
  return { view, hungUp: hungUp.signal, trailer: () => trailer, underway, over }
}

/** Messages that were written and are still here. */
function createUnderway() {
  let count = 0
  /** Only while somebody waits. */
  let flushed: PromiseWithResolvers<void> | undefined
  return {
    begin: () => void count++,
    end: (): void => {
      if (--count > 0) return
      flushed?.resolve()
      flushed = undefined
    },
    async flushed(signal: AbortSignal): Promise<void> {
      if (count === 0) return
      flushed ??= Promise.withResolvers()
      await unlessAborted(flushed.promise, signal)
    },
  }
}

interface Inside {
  nextCall?: Inside
  stream?: { close(code: number): void }
}

/** The library can only add a status behind what was written, where somebody who does not read never finds it. */
function reset(call: AnyCall): void {
  let inside = (call as unknown as { call?: Inside }).call // adapter: the library has no public way to reset a stream from the server
  while (inside?.nextCall) inside = inside.nextCall
  inside?.stream?.close(constants.NGHTTP2_CANCEL)
}

/** Reads at the handler's pace: what it does not ask for stays with the caller. */
async function* requestsOf(call: ServerDuplexStream<unknown, unknown>): AsyncGenerator<unknown> {
  // To stop reading is not to hang up: the answer may still be under way.
  yield* call.iterator({ destroyOnReturn: false })
  // Node ends the stream of a caller who has hung up as if he had said everything, and tells only then.
  await breathe()
  if (call.cancelled) throw new Failure('cancelled', 'the caller has hung up')
}

/** Writes at the caller's pace, so that a slow reader costs a few messages of memory, not a repository. */
async function pump(
  messages: AsyncIterable<unknown>,
  call: ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>,
  { hungUp, trailer, underway, over }: ReturnType<typeof viewOf>,
  around: ServerContext,
): Promise<void> {
  try {
    for await (const message of messages) {
      if (hungUp.aborted) return
      underway.begin()
      if (!call.write(message, underway.end)) await once(call, 'drain', { signal: hungUp })
    }
    over(status.OK)
    call.end(trailer())
  } catch (thrown) {
    if (hungUp.aborted) return
    const end = statusFor(thrown, call, trailer(), around)
    over(end.code)
    call.emit('error', end)
  }
}

/** The status that the caller is told; a failure that only concerns us goes to the log. */
function statusFor(thrown: unknown, call: AnyCall, trailer: Metadata, { log }: ServerContext) {
  const end = statusFromFailure(thrown)
  const failure = Failure.from(thrown)
  if (failure.code === 'internal' && !(thrown instanceof CallEnded))
    log.error('A call failed', { method: call.getPath(), error: failure })
  trailer.merge(end.metadata)
  return { ...end, metadata: trailer }
}
