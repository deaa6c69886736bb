import type { Kube } from '../adapters/kube/index.ts'
import type { Secret } from '../std/index.ts'

interface TokenReview {
  status?: {
    authenticated?: boolean
    audiences?: string[]
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
  }
}

/** Asks a cluster whose token it is; `undefined` when it knows nobody, or the token was issued for another audience. */
export async function reviewToken(kube: Kube, token: Secret<string>, audience?: string) {
  const { status } = await kube.post<TokenReview>('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: token.reveal(), ...(audience !== undefined && { audiences: [audience] }) },
  })
  const { username, uid = '', groups = [], extra = {} } = status?.user ?? {}
  if (!status?.authenticated || !username) return
  // A server that does not know audiences answers without them: then the token was not checked for ours.
  if (audience !== undefined && !status.audiences?.includes(audience)) return
  return { name: username, uid, groups, extra }
}
