import { type KeyPair, keyPairFrom } from '../../adapters/ssh/index.ts'
import type { CoreSecret } from '../../api/index.ts'
import { Failure, Secret } from '../../std/index.ts'

/** A key as an entry of a Secret. */
export const keyData = (entry: string, { secret }: KeyPair): Record<string, string> => ({
  [entry]: Buffer.from(secret.reveal()).toString('base64'),
})

/** The key of that entry. Throws `invalid` where it is none; `then`: what comes of another one in its place. */
export function keyIn({ data, metadata }: CoreSecret, entry: string, then: string): KeyPair {
  try {
    return keyPairFrom(new Secret(Buffer.from(data?.[entry] ?? '', 'base64').toString()))
  } catch (cause) {
    throw new Failure('invalid', `its ${entry} is no private key of ed25519`, {
      object: `Secret ${metadata.namespace}/${metadata.name}`,
      remedy: `Put the key back, or delete the Secret: then another one is made, and ${then}.`,
      cause,
    })
  }
}
