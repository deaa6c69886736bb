import type { Kube } from '../../adapters/kube/index.ts'
import { accountOfUser } from '../../api/index.ts'
import { type Clock, Failure, remembered, type Secret } from '../../std/index.ts'
import type { Subject } from '../develop.ts'
import { digestOf } from '../digest.ts'

/** Whose token it is, in the words of the management cluster. */
export interface Person extends Subject {
  /** When it is a service account. */
  readonly account: { namespace: string; name: string } | undefined
}

export type Identify = (token: Secret<string>) => Promise<Person>

interface TokenReview {
  status?: {
    authenticated?: boolean
    audiences?: string[]
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
  }
}

/** Asks the API server; a token may be for it, as in people's kubeconfigs, or for kas. Refusals are not kept. */
export function createIdentify(kube: Kube, audience: string, clock: Clock): Identify {
  const ask = async (token: Secret<string>): Promise<Person> => {
    const person = (await review(kube, token)) ?? (await review(kube, token, audience))
    if (person) return person
    throw new Failure('unauthorized', 'the token is not known', {
      reason: 'TokenUnknown',
      remedy: 'Log in to the management cluster',
    })
  }
  return remembered(ask, digestOf, clock)
}

async function review(kube: Kube, token: Secret<string>, audience?: string): Promise<Person | undefined> {
  const { status } = await kube.post<TokenReview>('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: token.reveal(), ...(audience !== undefined && { audiences: [audience] }) },
  })
  const user = status?.user
  if (!status?.authenticated || !user?.username) return undefined
  // A server that does not know audiences answers without them: then the token was not checked for ours.
  if (audience !== undefined && !status.audiences?.includes(audience)) return undefined
  return {
    name: user.username,
    uid: user.uid ?? '',
    groups: user.groups ?? [],
    extra: user.extra ?? {},
    account: accountOfUser(user.username),
  }
}
