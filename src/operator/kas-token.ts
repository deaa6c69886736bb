import { type Kube, requestToken } from '../adapters/kube/index.ts'
import type { Clock, Secret } from '../std/index.ts'

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
  return () => {
    if (held && held.until > clock.now()) return held.token
    const token = requestToken(kube, account, { audiences: [audience], seconds: LIFETIME })
    held = { until: clock.now() + LIFETIME * RENEW_AT * 1000, token }
    token.catch(() => {
      held = undefined
    })
    return token
  }
}
