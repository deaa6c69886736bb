import { type ServiceAccountName, ServiceAccounts, type TokenRequest } from '../../api/index.ts'
import { Failure, Secret } from '../../std/index.ts'
import { review } from './access-review.ts'
import type { Kube } from './kube.ts'
import { objectPath } from './paths.ts'

/**
 * A bound token of a service account, from the API server that knows it. Without audiences it is for the API server itself. It gives no
 * fewer than 600 seconds, and may give less than it is asked for.
 */
export async function requestToken(
  kube: Kube,
  { namespace, name }: ServiceAccountName,
  { audiences, seconds }: { audiences?: string[] | undefined; seconds: number },
): Promise<Secret<string>> {
  const path = objectPath(ServiceAccounts, { name, namespace }, 'token')
  const { status } = await kube.post<TokenRequest>(path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { ...(audiences && { audiences }), expirationSeconds: seconds },
  })
  if (status?.token) return new Secret(status.token)
  throw new Failure('unavailable', `the API server issued no token for ServiceAccount ${namespace}/${name}`)
}

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
