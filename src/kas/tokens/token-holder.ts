import type { Cache } from '../../adapters/kube/index.ts'
import { type Agent, byAge, indexBy, isDeleting } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'

export type KnownToken = NonNullable<NonNullable<Agent['status']>['tokens']>[number]

export interface TokenHolders {
  agents: Pick<Cache<Agent>, 'by'>
  clock: Clock
}

export const byToken = indexBy((agent: Agent) => (agent.spec.tokens ?? []).map(({ sha256 }) => sha256))

/** The agent that has the token of this digest now, and until when it counts. */
export function holderOf(
  { agents, clock }: TokenHolders,
  sha256: string,
): { agent: Agent; expiresAt: string | undefined } | undefined {
  const agent = firstOf(agents, sha256)
  if (!agent || isDeleting(agent)) return undefined
  const token = agent.spec.tokens?.find((one) => one.sha256 === sha256 && !hasEnded(one.expiresAt, clock))
  return token && { agent, expiresAt: token.expiresAt }
}

/**
 * Which of the Agent's tokens were another's before: whoever may read one Agent can copy a digest into another, and must neither be
 * taken for the first nor throw it out. What was found stands in the status, for the first one may be deleted later.
 */
export const knownTokensOf = (agent: Agent, agents: TokenHolders['agents']): KnownToken[] =>
  (agent.spec.tokens ?? []).flatMap(({ sha256 }) => {
    const known = knownOf(agent, sha256)
    if (known) return known
    const first = firstOf(agents, sha256)
    if (!first) return []
    return { sha256, ...(first.metadata.uid !== agent.metadata.uid && { copied: true }) }
  })

/** The one that is known to have had it first. */
function firstOf(agents: TokenHolders['agents'], sha256: string): Agent | undefined {
  const holders = [...agents.by(byToken, sha256)].filter((agent) => !knownOf(agent, sha256)?.copied).sort(byAge)
  const [oldest, ...others] = holders
  const known = holders.find((agent) => knownOf(agent, sha256))
  if (known || others.length === 0) return known ?? oldest
  // A spec that has changed may have got the digest later than a younger Agent has: then it counts for none.
  return oldest?.metadata.generation === 1 ? oldest : undefined
}

const knownOf = ({ status }: Agent, sha256: string): KnownToken | undefined =>
  status?.tokens?.find((token) => token.sha256 === sha256)

const hasEnded = (expiresAt: string | undefined, clock: Clock): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= clock.now()
