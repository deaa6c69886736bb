import { createHash } from 'node:crypto'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { ConfigMap } from '../../api/index.ts'
import type { Clock } from '../../std/index.ts'
import { writeInto } from '../config-map.ts'
import type { Session } from '../ports.ts'

/** When people have signed out, for all proxies of an installation: sessions themselves are kept nowhere. */
export const SIGN_OUTS = 'berth-proxy-sign-outs'

export interface SignOuts {
  /** Whether somebody has signed out since the session began. */
  endedSince(session: Session): boolean
  /** Ends all sessions of that user. */
  record(user: string): Promise<void>
  onChange(listener: () => void): () => void
}

export interface SignOutRoom {
  kube: Kube
  cache: Cache<ConfigMap>
  namespace: string
  /** No session lasts longer: what is older is forgotten. Milliseconds. */
  longest: number
  clock: Clock
}

export function createSignOuts({ kube, cache, namespace, longest, clock }: SignOutRoom): SignOuts {
  const ref = { name: SIGN_OUTS, namespace }
  const at = (user: string): number => Number(cache.get(ref)?.data?.[keyOf(user)] ?? 0)
  return {
    endedSince: ({ person, since }) => at(person.user) >= since,
    record(user) {
      const now = clock.now()
      const over = Object.entries(cache.get(ref)?.data ?? {}).filter(([, time]) => Number(time) < now - longest)
      return writeInto(kube, ref, { ...Object.fromEntries(over.map(([key]) => [key, null])), [keyOf(user)]: String(now) })
    },
    onChange: (listener) => cache.onChange(listener),
  }
}

/** Names of users are no keys of a ConfigMap, and need not be read there. */
const keyOf = (user: string): string => createHash('sha256').update(user).digest('hex')
