import { type Agent, keyOf, refOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { AgentGate, AgentPass, CheckToken } from '../ports/ports.ts'
import { numberOf } from '../projects/number.ts'
import { digestOf } from '../tokens/token.ts'
import { byToken, holderOf } from '../tokens/token-holder.ts'
import { revoked } from './gate.ts'
import { bearerOf, type Identities } from './identify.ts'
import type { TokenRate } from './token-rate.ts'

type Tokens = Pick<Identities, 'agents' | 'clock'>

export interface AgentGateOptions extends Tokens {
  rate: TokenRate
}

/** Lets agents in, whatever they want. What is no token of an agent is refused alike, expired or never heard of. */
export const createAgentGate = ({ rate, ...tokens }: AgentGateOptions): AgentGate & { checkToken: CheckToken } => ({
  checkToken: (authorization) => void shown(tokens, authorization),
  admit(authorization) {
    const { sha256, holder } = shown(tokens, authorization)
    rate(sha256, `Agent ${keyOf(holder.agent.metadata)}`)
    return passFor(tokens, sha256, holder.agent)
  },
})

function shown(tokens: Tokens, authorization: string | undefined) {
  const sha256 = digestOf(bearerOf(authorization))
  const holder = holderOf(tokens, sha256)
  if (holder) return { sha256, holder }
  throw new Failure('unauthorized', 'the token is not known', {
    reason: 'TokenUnknown',
    remedy: 'Show a token that was made for one Agent: berth agent token add.',
  })
}

function passFor(tokens: Tokens, sha256: string, agent: Agent): AgentPass {
  const end = new AbortController()
  const uid = agent.metadata.uid ?? ''
  let cancelTimer = () => undefined
  const look = () => {
    const holder = holderOf(tokens, sha256)
    if (holder?.agent.metadata.uid !== uid) return end.abort(revoked())
    if (holder.expiresAt === undefined) return
    cancelTimer()
    const cancel = tokens.clock.after(Math.max(Date.parse(holder.expiresAt) - tokens.clock.now(), 0) + 1, look)
    cancelTimer = () => void cancel()
  }
  // A thousand agents are let in, and each writes its status: only who has this token, or had it, is worth a look.
  const forget = tokens.agents.onChangeBy(byToken, sha256, look)
  look()
  return {
    agent: { ...refOf(agent), namespace: agent.metadata.namespace ?? '' },
    uid,
    id: numberOf(uid),
    ended: end.signal,
    close() {
      forget()
      cancelTimer()
    },
  }
}
