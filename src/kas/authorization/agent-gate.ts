import { type Agent, keyOf, refOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { numberOf } from '../number.ts'
import type { AgentGate, AgentPass } from '../ports.ts'
import { revoked } from './gate.ts'
import { bearerOf, digestOf, holderOf, type Identities } from './identify.ts'

type Tokens = Pick<Identities, 'agents' | 'clock'>

export interface AgentGateOptions extends Tokens {
  /** How long this token has to wait before its next call, milliseconds; 0 lets it in. */
  limit: (sha256: string) => number
  /** Told of a call that was one too many. */
  onLimited: () => void
}

/** Lets agents in, whatever they want. What is no token of an agent is refused alike, expired or never heard of. */
export const createAgentGate = ({ limit, onLimited, ...tokens }: AgentGateOptions): AgentGate => ({
  admit(authorization) {
    const sha256 = digestOf(bearerOf(authorization))
    const holder = holderOf(tokens, sha256)
    if (!holder)
      throw new Failure('unauthorized', 'the token is not known', {
        reason: 'TokenUnknown',
        remedy: 'Show a token that stands in one Agent, and in no other.',
      })
    // Only of tokens that are known: strangers must not fill the memory with theirs.
    if (limit(sha256) > 0) {
      onLimited()
      throw tooOften(holder.agent)
    }
    return passFor(tokens, sha256, holder.agent)
  },
})

function passFor(tokens: Tokens, sha256: string, agent: Agent): AgentPass {
  const end = new AbortController()
  const uid = agent.metadata.uid ?? ''
  const key = keyOf(agent.metadata)
  let calm = () => undefined
  const look = () => {
    const holder = holderOf(tokens, sha256)
    if (holder?.agent.metadata.uid !== uid) return end.abort(revoked())
    if (holder.expiresAt === undefined) return
    calm()
    const cancel = tokens.clock.after(Math.max(Date.parse(holder.expiresAt) - tokens.clock.now(), 0) + 1, look)
    calm = () => void cancel()
  }
  const forget = tokens.agents.onChange((now, before) => {
    const changed = now ?? before
    if (!changed) return
    // A thousand agents are let in, and each writes its status: only the own one is worth a look, and who has its token too.
    const isTaken = now?.spec.tokens?.some((token) => token.sha256 === sha256)
    if (isTaken || keyOf(changed.metadata) === key) look()
  })
  look()
  return {
    agent: { ...refOf(agent), namespace: agent.metadata.namespace ?? '' },
    uid,
    id: numberOf(uid),
    ended: end.signal,
    close() {
      forget()
      calm()
    },
  }
}

const tooOften = ({ metadata: { namespace, name } }: Agent) =>
  new Failure('unavailable', `Agent ${namespace}/${name}: too many calls with one token`, {
    reason: 'RateExceeded',
    remedy: 'Give each cluster an Agent or a token of its own, or let the administrator of kas allow more (--agent-calls).',
  })
