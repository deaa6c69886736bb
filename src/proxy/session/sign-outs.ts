import { createHash } from 'node:crypto'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { ConfigMap } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'
import type { Session } from '../web/ports.ts'
import { writeInto } from './config-map.ts'

/** The ConfigMap says when people have signed out, for all proxies of an installation: sessions themselves are kept nowhere. */
export const SIGN_OUTS = 'berth-proxy-sign-outs'

export type SignOuts = ReturnType<typeof createSignOuts>

interface SignOutSources {
  cache: Cache<ConfigMap>
  namespace: string
  /** No session lasts longer: what is older is forgotten. Milliseconds. */
  longest: number
}

export function createSignOuts(kube: Kube, { cache, namespace, longest }: SignOutSources, clock: Clock) {
  const ref = { name: SIGN_OUTS, namespace }
  const at = (user: string): number => Number(cache.get(ref)?.data?.[keyOf(user)] ?? 0)
  return {
    /** Whether somebody has signed out since the session began. */
    endedSince: ({ person, since }: Session): boolean => at(person.user) >= since,
    /** Ends all sessions of that user. */
    record(user: string): Promise<void> {
      const now = clock.now()
      const over = Object.entries(cache.get(ref)?.data ?? {}).filter(([, time]) => Number(time) < now - longest)
      return writeInto(kube, ref, { ...Object.fromEntries(over.map(([key]) => [key, null])), [keyOf(user)]: String(now) })
    },
    onChange: (listener: () => void) => cache.onChange(listener),
  }
}

/** Names of users are no keys of a ConfigMap, and need not be read there. */
const keyOf = (user: string): string => createHash('sha256').update(user).digest('hex')
