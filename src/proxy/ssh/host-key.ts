import type { Kube } from '../../adapters/kube/index.ts'
import { createKeyPair, type KeyPair, keyPairFrom } from '../../adapters/ssh/index.ts'
import { type CoreSecret, Secrets, SSH_GATEWAY } from '../../api/index.ts'
import { Failure, isFailure, type Log, Secret } from '../../std/index.ts'

const ENTRY = 'ssh_host_ed25519_key'

/** Finds the key, or makes it where there is none. Whichever proxy is first does so: all share it, for clients know them by one key. */
export async function obtainHostKey(kube: Kube, namespace: string, log: Log): Promise<KeyPair> {
  const ref = { name: SSH_GATEWAY, namespace }
  const there = await kube.get(Secrets, ref)
  if (there) return keyIn(there)
  const made = createKeyPair()
  const data = { [ENTRY]: Buffer.from(made.secret.reveal()).toString('base64') }
  try {
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref, type: 'Opaque', data })
    log.info('The host key for SSH was made', { key: made.line })
    return made
  } catch (thrown) {
    if (!isFailure(thrown, 'already-exists')) throw thrown
    // Another proxy was faster.
    return obtainHostKey(kube, namespace, log)
  }
}

function keyIn({ data, metadata }: CoreSecret): KeyPair {
  try {
    return keyPairFrom(new Secret(Buffer.from(data?.[ENTRY] ?? '', 'base64').toString()))
  } catch (cause) {
    throw new Failure('invalid', `its ${ENTRY} is no private key of ed25519`, {
      object: `Secret ${metadata.namespace}/${metadata.name}`,
      remedy: 'Put the key back, or delete the Secret: then another one is made, and clients warn of a host that has changed.',
      cause,
    })
  }
}
