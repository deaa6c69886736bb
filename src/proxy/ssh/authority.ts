import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { createKeyPair, type KeyPair, keyPairFrom } from '../../adapters/ssh/index.ts'
import { type CoreSecret, Secrets, SSH_AUTHORITY } from '../../api/index.ts'
import { type Clock, every, Failure, isFailure, type Log, Secret, seconds } from '../../std/index.ts'

export const ENTRY = 'ssh_user_ca_ed25519_key'
const LOOK_WITHOUT_KEY = seconds(2)

/** The key by which certificates are signed, as all proxies of an installation have it. */
export interface UserAuthority {
  /** `undefined` for the moment in which there is none. */
  current(): KeyPair | undefined
  stop(): void
}

interface AuthoritySources {
  cache: Cache<CoreSecret>
  namespace: string
}

/**
 * Finds the key, or makes it where there is none, and follows it: when the Secret or what is in it is deleted, another one is made, and
 * nothing counts any more that the first has signed. Throws where what is there is no key.
 */
export async function openAuthority(
  kube: Kube,
  { cache, namespace }: AuthoritySources,
  clock: Clock,
  log: Log,
): Promise<UserAuthority> {
  const ref = { name: SSH_AUTHORITY, namespace }
  const read = (secret: CoreSecret | undefined): KeyPair | undefined => {
    try {
      return keyIn(secret)
    } catch (thrown) {
      log.error('Certificates for SSH are neither signed nor taken', { error: Failure.from(thrown) })
      return undefined
    }
  }
  let current: KeyPair | undefined
  const look = async (): Promise<void> => {
    const secret = await kube.get(Secrets, ref)
    current = keyIn(secret)
    if (current) return
    const made = createKeyPair()
    const data = { [ENTRY]: Buffer.from(made.secret.reveal()).toString('base64') }
    try {
      // Only if nobody else has written since.
      await (secret
        ? kube.patch(Secrets, ref, { metadata: { resourceVersion: secret.metadata.resourceVersion }, data })
        : kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref, type: 'Opaque', data }))
      current = made
      log.info('The key that signs certificates for SSH was made', { key: made.line })
    } catch (thrown) {
      if (!isFailure(thrown, 'conflict', 'already-exists')) throw thrown
      // Another proxy was faster.
      current = keyIn(await kube.get(Secrets, ref))
    }
  }
  await look()
  const stopFollowing = cache.onChange((now, before) => {
    if ((now ?? before)?.metadata.name === SSH_AUTHORITY) current = read(now)
  })
  const stopLooking = every(clock, LOOK_WITHOUT_KEY, async () => {
    if (!current)
      await look().catch((thrown: unknown) =>
        log.warn('The key that signs certificates for SSH could not be looked after', { error: Failure.from(thrown) }),
      )
  })
  return {
    current: () => current,
    stop() {
      stopFollowing()
      void stopLooking()
    },
  }
}

/** Nothing where there is none yet: whoever deploys may have made the Secret without it. */
function keyIn(secret: CoreSecret | undefined): KeyPair | undefined {
  const encoded = secret?.data?.[ENTRY]
  if (!secret || encoded === undefined) return
  try {
    return keyPairFrom(new Secret(Buffer.from(encoded, 'base64').toString()))
  } catch (cause) {
    throw new Failure('invalid', `its ${ENTRY} is no private key of ed25519`, {
      object: `Secret ${secret.metadata.namespace}/${secret.metadata.name}`,
      remedy:
        'Put the key back, or delete the Secret: then another one is made, and all certificates have to be asked for again.',
      cause,
    })
  }
}
