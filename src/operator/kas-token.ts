import type { Kube } from '../adapters/kube/index.ts'
import type { TokenRequest } from '../api/index.ts'
import { type Clock, Failure, Secret } from '../std/index.ts'

const LIFETIME = 3600
/** Renewed at four fifths of its life: an outage of the API server shorter than the rest is not noticed. */
const RENEW_AT = 0.8

export interface KasTokenOptions {
  kube: Kube
  clock: Clock
  /** The operator's own service account. */
  account: { namespace: string; name: string }
  audience: string
}

/** The token with which the operator shows kas who it is: its own service account's, for kas only, for an hour. */
export function kasToken({ kube, clock, account, audience }: KasTokenOptions): () => Promise<Secret<string>> {
  let held: { until: number; token: Promise<Secret<string>> } | undefined
  const fetch = async (): Promise<Secret<string>> => {
    const { namespace, name } = account
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], expirationSeconds: LIFETIME },
    }
    const { status } = await kube.post<TokenRequest>(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, body)
    if (!status?.token) throw new Failure('unavailable', `ServiceAccount ${namespace}/${name}: the API server gave no token`)
    return new Secret(status.token)
  }
  return () => {
    if (held && held.until > clock.now()) return held.token
    const token = fetch()
    held = { until: clock.now() + LIFETIME * RENEW_AT * 1000, token }
    token.catch(() => {
      held = undefined
    })
    return token
  }
}
