import { Failure, Secret } from '../std/index.ts'
import type { CoreSecret } from './core.ts'
import { KUBECONFIG_KEY } from './labels.ts'

/** The base64 texts of a Secret. Throws `invalid` where a cache has left them out. */
export function dataOf(secret: CoreSecret): Record<string, string> {
  const failure = whyNotRead(secret)
  if (failure) throw failure
  return secret.data ?? {}
}

/** The text under a key of a Secret; `undefined` when there is no such key. Throws as `dataOf` does. */
export function textIn(secret: CoreSecret, key: string): string | undefined {
  const encoded = dataOf(secret)[key]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}

/** The kubeconfig that a Secret holds; `undefined` when its key is missing or empty. Throws as `dataOf` does. */
export function kubeconfigIn(secret: CoreSecret): Secret<string> | undefined {
  const text = textIn(secret, KUBECONFIG_KEY)
  return text ? new Secret(text) : undefined
}

/** `invalid` where a cache has left out its data. */
export const whyNotRead = ({ metadata, leftOut }: CoreSecret): Failure | undefined =>
  leftOut === undefined
    ? undefined
    : new Failure('invalid', `Secret ${metadata.name} is not read: ${leftOut}`, {
        reason: 'SecretTooLarge',
        remedy: 'Delete what nobody reads from it and from the Secrets beside it, then write it again.',
      })
