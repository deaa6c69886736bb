import { createHash } from 'node:crypto'
import type { Kube } from '../../adapters/kube/index.ts'
import { type Clock, Failure, type Secret, seconds } from '../../std/index.ts'

export interface ServiceAccountName {
  namespace: string
  name: string
}

export type ReviewToken = (token: Secret<string>) => Promise<ServiceAccountName>

interface TokenReview {
  status?: { authenticated?: boolean; user?: { username?: string }; audiences?: string[]; error?: string }
}

const FRESH = seconds(10)
const MOST = 1000

/**
 * Asks the API server whose token it is. An operator has a thousand streams with one token, and each is checked before each
 * poll: so an answer counts for ten seconds. Refusals are not kept.
 */
export function createTokenReviews(kube: Kube, audience: string, clock: Clock): ReviewToken {
  const answers = new Map<string, { at: number; name: Promise<ServiceAccountName> }>()
  return (token) => {
    const key = createHash('sha256').update(token.reveal()).digest('hex')
    const known = answers.get(key)
    if (known && clock.now() - known.at < FRESH) return known.name
    const name = review(kube, audience, token)
    answers.delete(key)
    answers.set(key, { at: clock.now(), name })
    name.catch(() => answers.delete(key))
    const [oldest] = answers.keys()
    if (answers.size > MOST && oldest !== undefined) answers.delete(oldest)
    return name
  }
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

async function review(kube: Kube, audience: string, token: Secret<string>): Promise<ServiceAccountName> {
  const { status } = await kube.post<TokenReview>('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: token.reveal(), audiences: [audience] },
  })
  const [, namespace, name] = SERVICE_ACCOUNT.exec(status?.user?.username ?? '') ?? []
  // A server that does not know audiences answers without them: then the token was not checked for ours.
  if (!status?.authenticated || !status.audiences?.includes(audience) || !namespace || !name) throw unknownToken(audience)
  return { namespace, name }
}

const unknownToken = (audience: string) =>
  new Failure('unauthorized', 'the token is not known', {
    reason: 'TokenUnknown',
    remedy: `Show the token of an Agent, or a service account token for the audience ${audience}.`,
  })
