import { type ServiceAccountName, ServiceAccounts, type TokenRequest } from '../../api/index.ts'
import { Failure, Secret } from '../../std/index.ts'
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
