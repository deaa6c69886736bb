import { type Duplex, failureFromEnd, type TextMetadata } from '../../adapters/grpc/index.ts'
import type { ConnectRequest, GatewayKasResponse } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import { textFrom } from './metadata.ts'

/** The pieces of an answer: header, messages, trailer, error. Whatever else there may be is none of them. */
type Piece = ConnectRequest['msg'] | GatewayKasResponse['msg']

/** A stream that carries one call in its messages. */
export interface Carrier {
  /** The answer in the order that is agreed, until its clean end. Throws a `Failure` at any other. */
  said(): AsyncGenerator<Piece>
  send(data: Uint8Array): Promise<void>
  closeSend(): void
  /** Everything has been said. */
  finish(): void
  /** The call is given up; after the end this does nothing. */
  end(why: Failure): void
}

/** An agent's text about a failure is cut here. Characters. */
const LONGEST = 4096

/** The call that is carried, as if its server had been dialled. */
export function callThrough(carrier: Carrier, signal?: AbortSignal): Duplex<Uint8Array, Uint8Array> {
  const cancel = () => carrier.end(new Failure('cancelled', 'the request was cancelled'))
  if (signal?.aborted) cancel()
  else signal?.addEventListener('abort', cancel, { once: true })
  const trailer = Promise.withResolvers<TextMetadata>()
  const said = carrier.said()
  const first = said.next()
  const over = (text: TextMetadata) => {
    signal?.removeEventListener('abort', cancel)
    trailer.resolve(text)
  }
  return {
    send: (data) => carrier.send(data),
    closeSend: () => carrier.closeSend(),
    header: first.then(({ value }) => (value?.case === 'header' ? textFrom(value.value.meta) : {})).catch(() => ({})),
    trailer: trailer.promise,
    responses: responsesOf(carrier, said, first, over),
    cancel() {
      cancel()
      over({})
    },
  }
}

async function* responsesOf(
  carrier: Carrier,
  said: AsyncGenerator<Piece>,
  first: Promise<IteratorResult<Piece>>,
  over: (trailer: TextMetadata) => void,
): AsyncGenerator<Uint8Array> {
  let trailer: TextMetadata = {}
  let failure: Failure | undefined
  let isComplete = false
  try {
    for (let next = await first; !next.done; next = await said.next()) {
      const { case: kind, value } = next.value
      if (kind === 'message') yield value.data
      else if (kind === 'header') textOfAnswer(value.meta)
      else if (kind === 'trailer') trailer = textOfAnswer(value.meta)
      else if (kind === 'error') failure = failureOf(value.status, trailer)
    }
    carrier.finish()
    isComplete = true
    if (failure) throw failure
  } finally {
    if (!isComplete) carrier.end(new Failure('cancelled', 'nobody reads the answer any more'))
    over(trailer)
  }
}

/** Agents may be hostile. What one says of itself that nobody could pass on is no answer. */
function textOfAnswer(meta: Parameters<typeof textFrom>[0]): TextMetadata {
  try {
    return textFrom(meta)
  } catch (thrown) {
    const { message } = Failure.from(thrown)
    throw new Failure('unavailable', `the answer of the agent is broken: ${message}`, { reason: 'AnswerBroken' })
  }
}

function failureOf(status: { code: number; message: string } | undefined, trailer: TextMetadata): Failure {
  const { code = 0, message = '' } = status ?? {}
  // 2 is UNKNOWN: an error must not look like success.
  return failureFromEnd({ code: code || 2, message: message.slice(0, LONGEST), trailer }, 'the agent')
}
