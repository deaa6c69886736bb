import { type Kube, reviewToken } from '../../adapters/kube/index.ts'
import { accountOfUser, type ServiceAccountName } from '../../api/index.ts'
import { type Clock, Failure, remembered, type Secret } from '../../std/index.ts'
import type { Prove } from '../tokens/strangers.ts'
import { digestOf } from '../tokens/token.ts'

export type ReviewToken = (token: Secret<string>, peer: string) => Promise<ServiceAccountName>

/**
 * Asks the API server whose token it is. An operator has a thousand streams with one token, and each is checked before each
 * poll: so an answer counts for ten seconds. Refusals are not kept.
 */
export function createTokenReviews(kube: Kube, audience: string, prove: Prove, clock: Clock): ReviewToken {
  const ask = remembered((token: Secret<string>) => review(kube, audience, token), digestOf, clock)
  return (token, peer) => prove(token, peer, () => ask(token))
}

async function review(kube: Kube, audience: string, token: Secret<string>): Promise<ServiceAccountName> {
  const account = accountOfUser((await reviewToken(kube, token, audience))?.name ?? '')
  if (!account) throw unknownToken(audience)
  return account
}

const unknownToken = (audience: string) =>
  new Failure('unauthorized', 'the token is not known', {
    reason: 'TokenUnknown',
    remedy: `Show the token of an Agent, or a service account token for the audience ${audience}.`,
  })
