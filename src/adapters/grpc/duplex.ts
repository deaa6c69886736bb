import { once } from 'node:events'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import { type TextMetadata, textOf } from './metadata.ts'
import { failureFromStatus } from './status.ts'

/** A call with messages both ways. */
export interface Duplex<I, O> {
  /** Resolves when the other side can take more. After the end it does nothing: `responses` says why it ended. */
  send(message: I): Promise<void>
  /** No more messages from here; those of the other side go on. */
  closeSend(): void
  /** Read once. Ends with the call; throws a `Failure` (its `cause` has the code of gRPC) if that failed. */
  readonly responses: AsyncIterable<O>
  /** Sent by the other side before its first message; empty if the call ended without. */
  readonly header: Promise<TextMetadata>
  /** Sent by it at the end. Resolves when the call is over. */
  readonly trailer: Promise<TextMetadata>
  cancel(): void
}

/** Without a reason Node would make an error, with a stack trace, for each call. */
const OVER = 'over'

export function duplexOf<I, O>(call: ClientDuplexStream<I, O>, target: string, signal?: AbortSignal): Duplex<I, O> {
  const over = new AbortController()
  const header = Promise.withResolvers<TextMetadata>()
  const trailer = Promise.withResolvers<TextMetadata>()
  const cancel = () => call.cancel()
  call.once('metadata', (metadata) => header.resolve(textOf(metadata)))
  call.once('status', ({ metadata }) => {
    signal?.removeEventListener('abort', cancel)
    over.abort(OVER)
    header.resolve({})
    trailer.resolve(textOf(metadata))
  })
  const ended: { failure?: unknown } = {}
  // A write after the end, and an end that nobody reads, are no uncaught exceptions. The library tells a reader who comes later nothing.
  call.on('error', (thrown) => {
    ended.failure ??= thrown
  })
  // Until it is asked for the first message, the library takes all that comes and keeps it. This asks, and takes none.
  call.read(0)
  if (signal?.aborted) cancel()
  else signal?.addEventListener('abort', cancel, { once: true })
  return {
    async send(message) {
      if (over.signal.aborted || call.write(message)) return
      await once(call, 'drain', { signal: over.signal }).catch(() => undefined)
    },
    closeSend: () => void call.end(),
    responses: responsesOf(call, target, ended),
    header: header.promise,
    trailer: trailer.promise,
    cancel,
  }
}

async function* responsesOf<I, O>(
  call: ClientDuplexStream<I, O>,
  target: string,
  ended: { readonly failure?: unknown },
): AsyncGenerator<O> {
  try {
    // Destroyed before it is cancelled, it would say that all has been sent.
    yield* call.iterator({ destroyOnReturn: false })
    if (ended.failure !== undefined) throw ended.failure
  } catch (thrown) {
    throw failureFromStatus(thrown, target)
  } finally {
    call.cancel()
  }
}
