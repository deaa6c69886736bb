import type { Kube } from '../../adapters/kube/index.ts'
import { createKeyPair, type KeyPair } from '../../adapters/ssh/index.ts'
import { Secrets, SSH_GATEWAY } from '../../api/index.ts'
import { isFailure, type Log } from '../../std/index.ts'
import { keyData, keyIn } from './key-secret.ts'

const ENTRY = 'ssh_host_ed25519_key'

/** Finds the key, or makes it where there is none. Whichever proxy is first does so: all share it, for clients know them by one key. */
export async function obtainHostKey(kube: Kube, namespace: string, log: Log): Promise<KeyPair> {
  const ref = { name: SSH_GATEWAY, namespace }
  const there = await kube.get(Secrets, ref)
  if (there) return keyIn(there, ENTRY, 'clients warn of a host that has changed')
  const made = createKeyPair()
  const data = keyData(ENTRY, made)
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
