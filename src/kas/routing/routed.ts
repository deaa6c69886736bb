import { fromBinary } from '@bufbuild/protobuf'
import type { Duplex } from '../../adapters/grpc/index.ts'
import { type Carrier, callThrough, inOrder, type OrderRules } from '../../engines/tunnel/index.ts'
import { type GatewayKasResponse, GatewayKasResponseSchema } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'

/** Names the agent that a request of another kas is for, by its decimal number. */
export const ROUTING_KEY = 'kas-hop-routing-agent-id'

/** The order in which a gateway speaks. */
const OF_GATEWAYS: OrderRules<'tunnelReady' | 'header' | 'message' | 'trailer' | 'error' | 'noTunnel'> = {
  start: ['tunnelReady', 'noTunnel', 'end'],
  noTunnel: ['tunnelReady', 'end'],
  tunnelReady: ['header'],
  header: ['message', 'trailer'],
  message: ['message', 'trailer'],
  trailer: ['error', 'end'],
  error: ['end'],
}

type Said = GatewayKasResponse['msg']

/** A call that another kas was asked to make. */
export type Asked = ReturnType<typeof askThrough>

export function askThrough(call: Duplex<Uint8Array, Uint8Array>) {
  const order = inOrder(OF_GATEWAYS)
  const responses = call.responses[Symbol.asyncIterator]()
  let why: Failure | undefined
  let isOver = false
  const end = (reason: Failure) => {
    if (isOver) return
    isOver = true
    why = reason
    call.cancel()
  }
  /** `undefined` at the clean end. */
  async function hear(): Promise<Said | undefined> {
    try {
      const { value, done } = await responses.next()
      const msg = done ? undefined : fromBinary(GatewayKasResponseSchema, value).msg
      order(msg ? msg.case : 'end')
      return msg
    } catch (thrown) {
      const failure = why ?? kasFailed(Failure.from(thrown))
      end(failure)
      throw failure
    }
  }
  const carrier: Carrier = {
    async *said() {
      for (let msg = await hear(); msg; msg = await hear()) yield msg
    },
    send: (data) => call.send(data),
    closeSend: () => call.closeSend(),
    finish: () => {
      isOver = true
    },
    end,
  }
  return {
    /** Resolves when its tunnel is ready; throws when it will not be. `onNone` hears that it will take a while. */
    async ready(onNone: () => void) {
      for (let msg = await hear(); msg?.case !== 'tunnelReady'; msg = await hear()) {
        if (!msg) throw new Failure('unavailable', 'the other kas has no tunnel to give', { reason: 'KasUnavailable' })
        onNone()
      }
    },
    /** Lets it begin. Only after `ready`. */
    start(signal: AbortSignal | undefined) {
      // StartStreaming has no fields.
      void call.send(new Uint8Array())
      return callThrough(carrier, signal)
    },
    cancel: () => end(new Failure('cancelled', 'another kas was faster')),
  }
}

/** Whatever is wrong between two kas, the caller can only ask again. */
const kasFailed = (failure: Failure) =>
  failure.reason === undefined || failure.reason === 'InvalidRequest'
    ? new Failure('unavailable', `the kas that has the agent failed: ${failure.message}`, {
        reason: 'KasUnavailable',
        remedy: 'Ask again.',
        cause: failure,
      })
    : failure
