import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { CallEnded, type Duplex, type TextMetadata } from '../../adapters/grpc/index.ts'
import { type ConnectRequest, ConnectRequestSchema, type ConnectResponse } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import { MESSAGE_BYTES } from './limits.ts'
import { answerMetaFrom, endingOf, textFrom } from './metadata.ts'
import { inOrder, OF_KAS, type Order } from './order.ts'

/** One request, as its handler sees it. */
export interface TunnelCall {
  readonly metadata: TextMetadata
  /** Sent before the first message, at once when it is called. */
  accept(header?: TextMetadata): void
  /** Sent at the end, also when the request fails. */
  setTrailer(trailer: TextMetadata): void
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** Answers one method without a frame around its messages. What it throws is the request's status. */
export type TunnelHandler = (requests: AsyncIterable<Uint8Array>, call: TunnelCall) => AsyncIterable<Uint8Array>

export interface Tunnelled {
  call: Duplex<ConnectRequest, ConnectResponse>
  /** All that kas sends. */
  incoming: AsyncIterator<ConnectResponse>
}

type Said = NonNullable<MessageInitShape<typeof ConnectRequestSchema>['msg']>

/** Answers the one request that a tunnel carries: a header always, messages, a trailer always, and the error if it failed. */
export async function answer(
  { call, incoming }: Tunnelled,
  first: ConnectResponse,
  services: ReadonlyMap<string, TunnelHandler>,
): Promise<void> {
  const order = inOrder(OF_KAS)
  order(first.msg.case)
  if (first.msg.case !== 'requestInfo') return
  const { methodName, meta } = first.msg.value
  const say = (msg: Said) => call.send(create(ConnectRequestSchema, { msg }))
  const gone = new AbortController()
  let isAnswered = false
  void call.trailer.then(() => {
    if (!isAnswered) gone.abort(new Failure('cancelled', 'nobody waits for the answer any more'))
  })
  let trailer: TextMetadata = {}
  let isAccepted = false
  const accept = (header: TextMetadata = {}) => {
    if (isAccepted) return
    const value = { meta: answerMetaFrom(header) }
    isAccepted = true
    void say({ case: 'header', value })
  }
  let failure: { thrown: unknown } | undefined
  try {
    const handler = services.get(methodName)
    if (!handler) throw unknownMethod(methodName)
    const view: TunnelCall = {
      metadata: textFrom(meta),
      accept,
      setTrailer: (given) => {
        trailer = given
      },
      signal: gone.signal,
    }
    for await (const data of handler(requestsOf(incoming, order), view)) {
      if (gone.signal.aborted) return
      accept()
      if (data.length > MESSAGE_BYTES) throw tooLarge(data.length)
      await say({ case: 'message', value: { data } })
    }
  } catch (thrown) {
    failure = { thrown }
  }
  isAnswered = true
  accept()
  const { meta: last, end } = endingOf(trailer, failure)
  await say({ case: 'trailer', value: { meta: last } })
  if (end) await say({ case: 'error', value: { status: { code: end.code, message: end.message } } })
  call.closeSend()
}

async function* requestsOf(incoming: AsyncIterator<ConnectResponse>, order: Order<'requestInfo' | 'message' | 'closeSend'>) {
  while (true) {
    const { value, done } = await incoming.next()
    order(done ? 'end' : value.msg.case)
    // Only a half-close is an end of the requests; this is the end of the caller.
    if (done) throw new Failure('cancelled', 'kas has ended the request')
    if (value.msg.case === 'closeSend') return
    if (value.msg.case === 'message') yield value.msg.value.data
  }
}

/** UNIMPLEMENTED, as any server says. */
const unknownMethod = (method: string) => new CallEnded(12, `the agent does not answer ${method.slice(0, 256)}`)

const tooLarge = (bytes: number) =>
  new Failure('too-large', `a message of the answer has ${bytes} bytes; ${MESSAGE_BYTES} are the most`, {
    reason: 'MessageTooLarge',
  })
