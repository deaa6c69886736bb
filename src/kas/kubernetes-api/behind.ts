import type { Duplex } from '../../adapters/grpc/index.ts'
import { Failure, isFailure } from '../../std/index.ts'

type Call = Duplex<Uint8Array, Uint8Array>

/** The agent ended the call, and said anything. */
export const AGENT_FAILED = 'AgentFailed'

/** The call, each failure of which is said to be the agent's. What kas says of a visitor's rights no agent may say. */
export const behind = (call: Call): Call => ({ ...call, responses: heard(call.responses) })

async function* heard(responses: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* responses
  } catch (thrown) {
    failed(thrown)
  }
}

/** Why no call was made. What agents cannot bring about stays as it is: nobody was there, or kas itself has a fault. */
export function unreached(thrown: unknown): never {
  const failure = Failure.from(thrown)
  if (failure.code === 'internal' || failure.reason === 'AgentNotConnected') throw failure
  failed(failure)
}

function failed(thrown: unknown): never {
  const cause = Failure.from(thrown)
  const message = onOneLine(cause.message)
  if (isFailure(cause, 'timeout')) throw new Failure('timeout', message, { cause })
  if (isFailure(cause, 'unavailable', 'cancelled')) throw new Failure('unavailable', message, { cause })
  throw new Failure('unavailable', message, { reason: AGENT_FAILED, cause })
}

/** Characters of what an agent says that people are shown. */
const LONGEST = 500

/** It ends in terminals. */
const onOneLine = (text: string): string => text.slice(0, LONGEST).replace(/\p{Cc}+/gu, ' ')
