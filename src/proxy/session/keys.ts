import { randomBytes } from 'node:crypto'
import type { TicketKey, TicketKeys } from '../../adapters/auth/index.ts'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { type CoreSecret, Secrets } from '../../api/index.ts'
import { type Clock, every, Failure, hours, isFailure, type Log, minutes, pause, Secret, seconds } from '../../std/index.ts'

/** The Secret that all proxies of an installation share. */
export const KEYS = 'berth-proxy-keys'

/** A key makes tickets for a day. */
const ROTATE = hours(24)
/** Before a new one makes tickets, all proxies have heard of it. */
const HEARD = minutes(1)
const LOOK = minutes(5)
const LOOK_WITHOUT_KEYS = seconds(2)
/** Half of it signs, half of it seals. */
const BYTES = 64

interface KeySources {
  cache: Cache<CoreSecret>
  namespace: string
  /** So long tickets may last: a key is kept until the last of its tickets is over. Milliseconds. */
  longest: number
}

export interface RotatingKeys extends TicketKeys {
  /** Resolves when there is a key. */
  ready(signal: AbortSignal): Promise<void>
  stop(): void
}

interface Dated {
  at: number
  key: TicketKey
}

/** Makes the Secret if nobody has, and a new key each day; whichever proxy is first does it. */
export function createRotatingKeys(kube: Kube, { cache, namespace, longest }: KeySources, clock: Clock, log: Log): RotatingKeys {
  const ref = { name: KEYS, namespace }
  let keys = keysIn(cache.get(ref))
  const stopFollowing = cache.onChange((now) => {
    if (now?.metadata.name === KEYS) keys = keysIn(now)
  })
  let stopLooking: ReturnType<typeof every> | undefined
  let lookedAt = 0
  const look = async (): Promise<void> => {
    lookedAt = clock.now()
    try {
      const secret = await kube.get(Secrets, ref)
      keys = keysIn(secret)
      const [newest] = keys
      if (newest && clock.now() - newest.at < ROTATE) return
      const fresh = freshKey(clock.now())
      await (secret
        ? kube.patch(Secrets, ref, rotation(secret, fresh, clock.now() - ROTATE - longest))
        : kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref, type: 'Opaque', data: fresh }))
      keys = keysIn(await kube.get(Secrets, ref))
      log.info('A key for tickets was made', { keys: keys.length })
    } catch (thrown) {
      // Another proxy was faster; the next look sees what it wrote.
      if (isFailure(thrown, 'conflict', 'already-exists')) keys = keysIn(await kube.get(Secrets, ref).catch(() => undefined))
      else log.warn('The keys for tickets could not be looked after', { error: Failure.from(thrown) })
    }
  }
  return {
    current() {
      const heard = keys.filter(({ at }) => at <= clock.now() - HEARD)
      const chosen = heard[0] ?? keys.at(-1)
      if (!chosen)
        throw new Failure('unavailable', 'there is no key for tickets yet', { reason: 'NoKeys', remedy: 'Try again in a moment' })
      return chosen.key
    },
    byId: (id) => keys.find(({ key }) => key.id === id)?.key,
    async ready(signal) {
      while (keys.length === 0 && !signal.aborted) {
        await look()
        if (keys.length === 0) await pause(clock, seconds(1), signal)
      }
      stopLooking = every(clock, LOOK_WITHOUT_KEYS, async () => {
        if (keys.length === 0 || clock.now() - lookedAt >= LOOK) await look()
      })
    },
    stop() {
      void stopLooking?.()
      stopFollowing()
    },
  }
}

/** The newest first; what is no key of ours is left out. */
function keysIn(secret: CoreSecret | undefined): Dated[] {
  const found = Object.entries(secret?.data ?? {}).flatMap(([id, encoded]): Dated[] => {
    const at = Number(/^(\d{13})-[0-9a-f]{8}$/.exec(id)?.[1])
    const bytes = Buffer.from(encoded, 'base64')
    if (Number.isNaN(at) || bytes.length !== BYTES) return []
    const halves = { sign: new Secret<Uint8Array>(bytes.subarray(0, 32)), seal: new Secret<Uint8Array>(bytes.subarray(32)) }
    return [{ at, key: { id, ...halves } }]
  })
  return found.sort((a, b) => b.at - a.at)
}

const freshKey = (now: number): Record<string, string> => ({
  [`${now}-${randomBytes(4).toString('hex')}`]: randomBytes(BYTES).toString('base64'),
})

/** Only if nobody else has written since. */
function rotation({ metadata, data = {} }: CoreSecret, fresh: Record<string, string>, oldest: number) {
  const over = Object.keys(data).filter((id) => Number(id.slice(0, 13)) < oldest)
  return {
    metadata: { resourceVersion: metadata.resourceVersion },
    data: { ...fresh, ...Object.fromEntries(over.map((id) => [id, null])) },
  }
}
