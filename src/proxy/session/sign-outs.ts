import { createHash } from 'node:crypto'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { ConfigMap } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'
import type { ProviderSession, Session } from '../web/ports.ts'
import { writeInto } from './config-map.ts'

/** The ConfigMap says when people have signed out, for all proxies of an installation: sessions themselves are kept nowhere. */
export const SIGN_OUTS = 'berth-proxy-sign-outs'

/** Beyond so many, a provider that ends one session ends all of that person. */
const MOST = 5000

export type SignOuts = ReturnType<typeof createSignOuts>

interface SignOutSources {
  cache: Cache<ConfigMap>
  namespace: string
  /** No session lasts longer: what is older is forgotten. Milliseconds. */
  longest: number
}

export function createSignOuts(kube: Kube, { cache, namespace, longest }: SignOutSources, clock: Clock) {
  const ref = { name: SIGN_OUTS, namespace }
  const at = (who: string): number => Number(cache.get(ref)?.data?.[keyOf(who)] ?? 0)
  const write = (whose: readonly string[]): Promise<void> => {
    const now = clock.now()
    const over = Object.entries(cache.get(ref)?.data ?? {}).filter(([, time]) => Number(time) < now - longest)
    const ended = Object.fromEntries(whose.map((who) => [keyOf(who), String(now)]))
    return writeInto(kube, ref, { ...Object.fromEntries(over.map(([key]) => [key, null])), ...ended })
  }
  return {
    /** Whether somebody has signed out since the session began. */
    endedSince: ({ person, since, atProvider: there }: Session): boolean =>
      [person.user, ...(there ? keysOf(there) : [])].some((key) => at(key) >= since),
    /** Ends all sessions of that user. */
    record: (user: string): Promise<void> => write([user]),
    /** Ends the one session that a provider has ended, or all of somebody where it names none. */
    recordLogout({ subject, session }: Partial<ProviderSession>): Promise<void> {
      // A ConfigMap has room for some ten thousand: somebody may sign in and out at the provider all day.
      const isFull = Object.keys(cache.get(ref)?.data ?? {}).length > MOST
      return write(keysOf(session === undefined || (isFull && subject !== undefined) ? { subject } : { session }))
    },
    onChange: (listener: () => void) => cache.onChange(listener),
  }
}

/** No name of a user has such a character in it. */
const keysOf = ({ subject, session }: { [part in keyof ProviderSession]?: string | undefined }): string[] => [
  ...(subject === undefined ? [] : [`\0subject ${subject}`]),
  ...(session === undefined ? [] : [`\0session ${session}`]),
]

/** Names of users are no keys of a ConfigMap, and need not be read there. */
const keyOf = (who: string): string => createHash('sha256').update(who).digest('hex')
