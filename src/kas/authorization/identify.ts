import type { Cache } from '../../adapters/kube/index.ts'
import type { Agent, ServiceAccountName } from '../../api/index.ts'
import { type Clock, Failure, type Secret } from '../../std/index.ts'
import type { AccessRequest, Caller } from '../ports/ports.ts'
import { bearerIn, digestOf } from '../tokens/token.ts'
import { holderOf } from '../tokens/token-holder.ts'
import type { ReviewToken } from './token-reviews.ts'

export interface Identities {
  agents: Cache<Agent>
  reviewToken: ReviewToken
  /** The account that may ask on behalf of namespaces. */
  operator: ServiceAccountName
  clock: Clock
}

/** Finds the caller behind a token. It is asked for again before each poll, because tokens end. */
export async function identify(identities: Identities, claim: AccessRequest): Promise<Caller> {
  const token = bearerOf(claim.authorization)
  const agent = agentOf(identities, token)
  if (agent) return callerOf(agent)
  const account = await identities.reviewToken(token, claim.peer)
  const isOperator = account.namespace === identities.operator.namespace && account.name === identities.operator.name
  if (!isOperator) return { kind: 'service-account', ...account }
  if (!claim.namespace)
    throw new Failure('invalid', 'the operator must say for which namespace it asks (berth-namespace)', {
      reason: 'InvalidRequest',
    })
  return { kind: 'service-account', namespace: claim.namespace, name: claim.serviceAccount, isVouchedFor: true }
}

/** Throws unless the token is known, of whichever caller. On whose behalf it is shown is read later. */
export async function known(identities: Identities, authorization: string | undefined, peer: string): Promise<void> {
  const token = bearerOf(authorization)
  if (!agentOf(identities, token)) await identities.reviewToken(token, peer)
}

export function bearerOf(authorization: string | undefined): Secret<string> {
  const token = bearerIn(authorization)
  if (token) return token
  throw new Failure('unauthorized', 'the call carries no bearer token', { reason: 'TokenMissing' })
}

export const agentOf = (identities: Pick<Identities, 'agents' | 'clock'>, token: Secret<string>): Agent | undefined =>
  holderOf(identities, digestOf(token))?.agent

export const callerOf = ({ metadata: { namespace = '', name } }: Agent): Caller => ({ kind: 'agent', namespace, name })
