import { Secret } from '../std/index.ts'
import type { CoreSecret } from './core.ts'
import { KUBECONFIG_KEY } from './labels.ts'

/** The text under a key of a Secret; `undefined` when there is no such key. */
export function textIn({ data }: CoreSecret, key: string): string | undefined {
  const encoded = data?.[key]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}

/** The kubeconfig that a Secret holds; `undefined` when its key is missing or empty. */
export function kubeconfigIn(secret: CoreSecret): Secret<string> | undefined {
  const text = textIn(secret, KUBECONFIG_KEY)
  return text ? new Secret(text) : undefined
}
