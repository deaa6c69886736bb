import { type Kube, reviewToken } from '../../adapters/kube/index.ts'
import { accountOfUser } from '../../api/index.ts'
import { type Clock, Failure, remembered, type Secret } from '../../std/index.ts'
import type { RoleSubject } from '../projects/develop.ts'
import { digestOf } from '../tokens/token.ts'

/** The owner of a token, as the management cluster describes him. */
export interface TokenOwner extends RoleSubject {
  /** When it is a service account. */
  readonly account: { namespace: string; name: string } | undefined
}

export type Identify = (token: Secret<string>) => Promise<TokenOwner>

/** Asks the API server; a token may be for it, as in people's kubeconfigs, or for kas. Refusals are not kept. */
export function createIdentify(kube: Kube, audience: string, clock: Clock): Identify {
  const ask = async (token: Secret<string>): Promise<TokenOwner> => {
    const user = (await reviewToken(kube, token)) ?? (await reviewToken(kube, token, audience))
    if (user) return { ...user, account: accountOfUser(user.name) }
    throw new Failure('unauthorized', 'the token is not known', {
      reason: 'TokenUnknown',
      remedy: 'Log in to the management cluster',
    })
  }
  return remembered(ask, digestOf, clock)
}
