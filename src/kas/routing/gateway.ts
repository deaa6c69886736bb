import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { RawHandler, TextMetadata } from '../../adapters/grpc/index.ts'
import { answerMetaFrom, endingOf, forwardable, pour, request, type Tunnels } from '../../engines/tunnel/index.ts'
import { encode, GatewayKasResponseSchema } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import { ROUTING_KEY } from './routed.ts'

export interface GatewayOptions {
  tunnels: Tunnels
  verify: (authorization: string | undefined) => Promise<void>
  /** Told of each request, whether its agent had a tunnel here at once. */
  onAsked: (hadTunnel: boolean) => void
}

type Said = NonNullable<MessageInitShape<typeof GatewayKasResponseSchema>['msg']>

const say = (msg: Said): Uint8Array => encode(GatewayKasResponseSchema, create(GatewayKasResponseSchema, { msg }))

/**
 * Answers other kas on the private endpoint. It uses its own tunnels and nothing else, whatever the request says: so requests cannot go
 * in circles.
 */
export const createGateway = ({ tunnels, verify, onAsked }: GatewayOptions): RawHandler =>
  async function* (requests, call) {
    await verify(call.metadata('authorization'))
    const agentId = agentIn(call.text)
    // What cannot travel is refused before it costs a tunnel.
    const metadata = forwardable(call.text)
    const incoming = requests[Symbol.asyncIterator]()
    let tunnel = tunnels.take(agentId, call.path)
    onAsked(tunnel !== undefined)
    if (!tunnel) {
      yield say({ case: 'noTunnel', value: {} })
      tunnel = await tunnels.wait(agentId, call.path, call.signal)
    }
    try {
      yield say({ case: 'tunnelReady', value: {} })
      const { done } = await incoming.next()
      // Another kas was faster.
      if (done) return
      const answer = request(tunnel, call.path, { metadata, signal: call.hungUp })
      void pour(incoming, answer)
      yield say({ case: 'header', value: { meta: answerMetaFrom(await answer.header) } })
      let failure: { thrown: unknown } | undefined
      try {
        for await (const data of answer.responses) yield say({ case: 'message', value: { data } })
      } catch (thrown) {
        failure = { thrown }
      }
      const { meta, end } = endingOf(await answer.trailer, failure)
      yield say({ case: 'trailer', value: { meta } })
      if (end) yield say({ case: 'error', value: { status: { code: end.code, message: end.message } } })
    } finally {
      tunnels.putBack(tunnel)
    }
  }

function agentIn(metadata: TextMetadata): bigint {
  const [id, ...more] = (metadata[ROUTING_KEY] ?? []).flatMap((value) => value.split(',')).map((value) => value.trim())
  if (id !== undefined && more.length === 0 && /^\d{1,19}$/.test(id)) return BigInt(id)
  throw new Failure('invalid', `${ROUTING_KEY} must be there once and name an agent by its number`, { reason: 'InvalidRequest' })
}
