import type { Clock } from '../../std/index.ts'
import { seconds } from '../../std/index.ts'
import type { Owner } from './place.ts'

/** What a sync wants to be in a cluster. */
export interface Want {
  owner: Owner
  /** URL of the server. */
  server: string
  /** Of the objects. */
  keys: ReadonlySet<string>
  /** The commit that says so. */
  commitId: string
  /** Called when another sync begins or ceases to want one of these objects. */
  news: () => void
}

/**
 * Which sync of this process wants which object, so that an object may go from one to the other in any order, and two that
 * want the same are told instead of changing it in turns. Lost at a restart: then nobody gives anything up until he has said
 * what he wants.
 */
export interface Wants {
  /** From now on it wants just this. */
  declare(want: Want): void
  /** It wants nothing any more: deleted, or never heard of again. */
  withdraw(owner: string): void
  of(owner: string): Want | undefined
  /** Whether a sync that keeps an object still wants it; `unknown`: it has not said yet, or is no sync of ours. */
  standing(keeper: string, server: string, key: string): 'wants' | 'gives' | 'unknown'
  /** Another sync that wants the same object. */
  rival(owner: string, server: string, key: string): Want | undefined
  /** What another one wants as well, and not only for the moment in which it goes from one to the other. */
  contested(owner: string): Contested[]
}

export interface Contested {
  key: string
  by: Owner
}

export interface WantsOptions {
  clock: Clock
  /** Whether there is such a sync, even if it has not said yet what it wants. */
  exists?: (owner: string) => boolean
}

/** In a commit that moves an object both want it for a moment: nobody is told before that is over. */
const GRACE = seconds(3)

interface Claim {
  owner: string
  since: number
}

export function createWants({ clock, exists }: WantsOptions): Wants {
  const wants = new Map<string, Want>()
  /** By server and key. */
  const claims = new Map<string, readonly Claim[]>()
  const shared = new Set<string>()

  const others = (owner: string, place: string): Claim[] => (claims.get(place) ?? []).filter((claim) => claim.owner !== owner)
  const keep = (place: string, left: readonly Claim[]) => {
    if (left.length > 0) claims.set(place, left)
    else claims.delete(place)
    if (left.length > 1) shared.add(place)
    else shared.delete(place)
  }
  const change = (owner: string, before: Want | undefined, after: Want | undefined) => {
    const [given, taken] = [new Set<string>(), new Set<string>()]
    for (const key of before?.keys ?? []) {
      if (!before || holds(after, before.server, key)) continue
      const left = others(owner, placeOf(before.server, key))
      keep(placeOf(before.server, key), left)
      for (const claim of left) given.add(claim.owner)
    }
    for (const key of after?.keys ?? []) {
      if (!after || holds(before, after.server, key)) continue
      const there = others(owner, placeOf(after.server, key))
      keep(placeOf(after.server, key), [...there, { owner, since: clock.now() }])
      for (const claim of there) taken.add(claim.owner)
    }
    for (const id of given) wants.get(id)?.news()
    if (taken.size === 0) return
    clock.after(GRACE, () => {
      for (const id of [owner, ...taken]) wants.get(id)?.news()
    })
  }

  return {
    declare(want) {
      const { owner, keys, server } = want
      const before = wants.get(owner.id)
      wants.set(owner.id, want)
      if (before?.keys !== keys || before.server !== server) change(owner.id, before, want)
    },
    withdraw(owner) {
      const before = wants.get(owner)
      wants.delete(owner)
      change(owner, before, undefined)
    },
    of: (owner) => wants.get(owner),
    standing(keeper, server, key) {
      const want = wants.get(keeper)
      if (want) return holds(want, server, key) ? 'wants' : 'gives'
      return exists?.(keeper) ? 'wants' : 'unknown'
    },
    rival(owner, server, key) {
      const [first] = others(owner, placeOf(server, key))
      return first && wants.get(first.owner)
    },
    contested(owner) {
      const server = wants.get(owner)?.server ?? ''
      const found: Contested[] = []
      for (const place of shared) {
        const [rival] = others(owner, place)
        const isOurs = claims.get(place)?.some((claim) => claim.owner === owner)
        const by = rival && wants.get(rival.owner)?.owner
        if (isOurs && by && clock.now() - rival.since >= GRACE) found.push({ key: place.slice(server.length + 1), by })
      }
      return found
    },
  }
}

const placeOf = (server: string, key: string): string => `${server} ${key}`

const holds = (want: Want | undefined, server: string, key: string): boolean => want?.server === server && want.keys.has(key)
