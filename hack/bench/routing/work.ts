import type { Duplex, TextMetadata } from '../../../src/adapters/grpc/index.ts'

type Bytes = Duplex<Uint8Array, Uint8Array>

/** The one method that is routed to agents, and the one that the floor passes on. */
export const METHOD = '/gitlab.agent.kubernetes_api.rpc.KubernetesApi/MakeRequest'
export const FLOOR = '/bench.Floor/Pass'
/** Metadata: which agent, where the floor passes a call on to (one after the other), and how many bytes the agent is to send. */
export const AGENT = 'bench-agent'
export const VIA = 'bench-via'
export const BYTES = 'bench-bytes'

/** As large as the head of an HTTP request, the end of its body, the head of an answer, a small body and its end. */
const REQUEST = [Buffer.alloc(400), Buffer.alloc(2)]
const ANSWER = [Buffer.alloc(300), Buffer.alloc(1000), Buffer.alloc(2)]
/** As peers cut bodies. */
const PIECE = Buffer.alloc(32 * 1024)

/** What the agent does: a small answer once it has the request, or as many bytes as were asked for. */
export async function* answer(requests: AsyncIterable<Uint8Array>, metadata: TextMetadata): AsyncGenerator<Uint8Array> {
  for await (const _ of requests);
  const [bytes] = metadata[BYTES] ?? []
  if (bytes === undefined) yield* ANSWER
  else for (let sent = 0; sent < Number(bytes); sent += PIECE.length) yield PIECE
}

/** A bare hop: passes on what comes from either side, and knows nothing else. */
export async function* passOn(requests: AsyncIterable<Uint8Array>, next: Bytes): AsyncGenerator<Uint8Array> {
  void pour(requests, next)
  yield* next.responses
}

async function pour(requests: AsyncIterable<Uint8Array>, next: Bytes): Promise<void> {
  try {
    for await (const message of requests) await next.send(message)
    next.closeSend()
  } catch {
    next.cancel()
  }
}

/** One small request; gives how many bytes came back. */
export async function exchange(call: Bytes): Promise<number> {
  for (const message of REQUEST) void call.send(message)
  call.closeSend()
  let bytes = 0
  for await (const data of call.responses) bytes += data.length
  return bytes
}

export const ANSWER_BYTES = ANSWER.reduce((sum, { length }) => sum + length, 0)
