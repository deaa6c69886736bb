import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { createKeyPair, type KeyPair } from '../../adapters/ssh/index.ts'
import { type CoreSecret, Secrets, SSH_AUTHORITY } from '../../api/index.ts'
import { type Clock, every, Failure, isFailure, type Log, seconds } from '../../std/index.ts'
import { keyData, keyIn } from './key-secret.ts'

export const ENTRY = 'ssh_user_ca_ed25519_key'
const LOOK_WITHOUT_KEY = seconds(2)

/** The key by which certificates are signed, as all proxies of an installation have it. */
export interface UserAuthority {
  /** `undefined` for the moment in which there is none. */
  current(): KeyPair | undefined
  stop(): void
}

interface Seen {
  current?: KeyPair | undefined
  /** Of the Secret that `current` comes from. */
  version?: string | undefined
  /** Of the one that could not be read. */
  unread?: string | undefined
  /** What the cache had at the last turn. */
  kept?: string | undefined
}

interface AuthoritySources {
  cache: Pick<Cache<CoreSecret>, 'get' | 'onChangeOf'>
  namespace: string
}

/**
 * Finds the key, or makes it where there is none, and follows it: when the Secret or what is in it is deleted, another one is made, and
 * nothing counts any more that the first has signed. Where what is there is no key there are no certificates, and all else goes on.
 */
export async function openAuthority(
  kube: Pick<Kube, 'get' | 'create' | 'patch'>,
  { cache, namespace }: AuthoritySources,
  clock: Clock,
  log: Log,
): Promise<UserAuthority> {
  const ref = { name: SSH_AUTHORITY, namespace }
  const seen: Seen = {}
  /** Says once of each version that it cannot be read. */
  const take = (secret: CoreSecret | undefined): void => {
    const version = secret?.metadata.resourceVersion
    seen.version = version
    try {
      // Whoever deploys may have made the Secret without it.
      const isThere = secret?.data?.[ENTRY] !== undefined
      seen.current = isThere ? keyIn(secret, ENTRY, 'all certificates have to be asked for again') : undefined
    } catch (thrown) {
      seen.current = undefined
      if (seen.unread === version) return
      seen.unread = version
      log.error('Certificates for SSH are neither signed nor taken', { error: Failure.from(thrown) })
    }
  }
  const look = async (): Promise<void> => {
    const secret = await kube.get(Secrets, ref)
    take(secret)
    // What cannot be read is somebody's all the same, and not written over.
    if (seen.current || secret?.data?.[ENTRY] !== undefined) return
    const made = createKeyPair()
    const data = keyData(ENTRY, made)
    try {
      // Only if nobody else has written since.
      const written = await (secret
        ? kube.patch(Secrets, ref, { metadata: { resourceVersion: secret.metadata.resourceVersion }, data })
        : kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref, type: 'Opaque', data }))
      take(written)
      log.info('The key that signs certificates for SSH was made', { key: made.line })
    } catch (thrown) {
      if (!isFailure(thrown, 'conflict', 'already-exists')) throw thrown
      // Another proxy was faster.
      take(await kube.get(Secrets, ref))
    }
  }
  // Before the first look: what is written between the two is heard of.
  const stopFollowing = cache.onChangeOf(ref, (now) => take(now))
  await look()
  const stopLooking = every(clock, LOOK_WITHOUT_KEY, async () => {
    // An answer may come after the news of what has replaced it; what the cache has said for a whole turn is no older than that.
    const kept = cache.get(ref)
    const version = kept?.metadata.resourceVersion
    if (version !== seen.version && version === seen.kept) take(kept)
    seen.kept = version
    if (!seen.current)
      await look().catch((thrown: unknown) =>
        log.warn('The key that signs certificates for SSH could not be looked after', { error: Failure.from(thrown) }),
      )
  })
  return {
    current: () => seen.current,
    stop() {
      stopFollowing()
      void stopLooking()
    },
  }
}
