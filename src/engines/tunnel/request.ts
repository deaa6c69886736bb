import { type Duplex, failureFromEnd, type TextMetadata } from '../../adapters/grpc/index.ts'
import { Failure } from '../../std/index.ts'
import { MESSAGE_BYTES } from './limits.ts'
import { textFrom } from './metadata.ts'
import type { Said, Tunnel } from './tunnel.ts'

export interface RequestOptions {
  metadata?: TextMetadata | undefined
  signal?: AbortSignal | undefined
}

/** An agent's text about a failure is cut here. Characters. */
const LONGEST = 4096

/** Makes a request, `/service/method`, through a tunnel that was taken; gives the call as if the agent had been dialled. */
export function request(
  tunnel: Tunnel,
  path: string,
  { metadata = {}, signal }: RequestOptions = {},
): Duplex<Uint8Array, Uint8Array> {
  tunnel.start(path, metadata)
  const cancel = () => tunnel.end(new Failure('cancelled', 'the request was cancelled'))
  if (signal?.aborted) cancel()
  else signal?.addEventListener('abort', cancel, { once: true })
  const trailer = Promise.withResolvers<TextMetadata>()
  const said = tunnel.said()
  const first = said.next()
  const over = (text: TextMetadata) => {
    signal?.removeEventListener('abort', cancel)
    trailer.resolve(text)
  }
  return {
    async send(data) {
      if (data.length <= MESSAGE_BYTES) await tunnel.send({ case: 'message', value: { data } })
      else tunnel.end(tooLarge(data.length))
    },
    closeSend: () => void tunnel.send({ case: 'closeSend', value: {} }),
    header: first.then(
      ({ value }) => (value?.case === 'header' ? textFrom(value.value.meta) : {}),
      () => ({}),
    ),
    trailer: trailer.promise,
    responses: responsesOf(tunnel, said, first, over),
    cancel() {
      cancel()
      over({})
    },
  }
}

async function* responsesOf(
  tunnel: Tunnel,
  said: AsyncGenerator<Said>,
  first: Promise<IteratorResult<Said>>,
  over: (trailer: TextMetadata) => void,
): AsyncGenerator<Uint8Array> {
  let trailer: TextMetadata = {}
  let failure: Failure | undefined
  try {
    for (let next = await first; !next.done; next = await said.next()) {
      const { case: kind, value } = next.value
      if (kind === 'message') yield value.data
      else if (kind === 'trailer') trailer = textFrom(value.meta)
      else if (kind === 'error') failure = failureOf(value.status, trailer)
    }
    tunnel.finish()
    if (failure) throw failure
  } finally {
    tunnel.end(new Failure('cancelled', 'nobody reads the answer any more'))
    over(trailer)
  }
}

function failureOf(status: { code: number; message: string } | undefined, trailer: TextMetadata): Failure {
  const { code = 0, message = '' } = status ?? {}
  // 2 is UNKNOWN: an error must not look like success.
  return failureFromEnd({ code: code || 2, message: message.slice(0, LONGEST), trailer }, 'the agent')
}

const tooLarge = (bytes: number) =>
  new Failure('too-large', `a message has ${bytes} bytes; ${MESSAGE_BYTES} are the most`, {
    reason: 'MessageTooLarge',
    remedy: 'Send it in pieces.',
  })
