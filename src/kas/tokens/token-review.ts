import { type Kube, review } from '../../adapters/kube/index.ts'
import type { Secret } from '../../std/index.ts'

interface TokenReviewStatus {
  authenticated?: boolean
  audiences?: string[]
  user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
}

/** Asks a cluster whose token it is; `undefined` when it knows nobody, or the token was issued for another audience. */
export async function reviewToken(kube: Kube, token: Secret<string>, audience?: string) {
  const spec = { token: token.reveal(), ...(audience !== undefined && { audiences: [audience] }) }
  const status = await review<TokenReviewStatus>(kube, 'authentication.k8s.io/v1', 'TokenReview', spec)
  const { username, uid = '', groups = [], extra = {} } = status.user ?? {}
  if (!status.authenticated || !username) return
  // A server that does not know audiences answers without them: then the token was not checked for ours.
  if (audience !== undefined && !status.audiences?.includes(audience)) return
  return { name: username, uid, groups, extra }
}
