import type { Revision } from '../../adapters/git/index.ts'
import { type Clock, matchesWildcard, minutes } from '../../std/index.ts'

/** What one look at all refs of a pattern has found. */
interface Listing {
  refs: ReadonlyMap<string, string>
  /** When it was asked for, milliseconds since 1970. */
  at: number
}

/** Nobody takes an older one for an answer. */
const KEPT = minutes(10)

export type Listings = ReturnType<typeof createListings>

/**
 * Whoever follows all branches of a repository asks for each of them: hundreds that are followed one by one, too, are answered by that
 * one look, and cost the Git server nothing.
 */
export function createListings(clock: Clock) {
  const all = new Map<string, Map<string, Listing>>()
  const tidy = () => {
    for (const [repository, listings] of all) {
      for (const [pattern, { at }] of listings) if (at < clock.now() - KEPT) listings.delete(pattern)
      if (listings.size === 0) all.delete(repository)
    }
  }
  return {
    /** Gives the names of the refs that are others than the last time. */
    note(repository: string, pattern: string, listing: Listing): string[] {
      tidy()
      const listings = all.get(repository) ?? new Map<string, Listing>()
      const before = listings.get(pattern)?.refs ?? listing.refs
      all.set(repository, listings.set(pattern, listing))
      const names = new Set([...before.keys(), ...listing.refs.keys()])
      return [...names].filter((name) => before.get(name) !== listing.refs.get(name))
    },
    /** Where a branch is, by a listing that was not asked for before; `undefined`: only the server knows. */
    find(repository: string, revision: Revision, since: number): { commit: string; refName: string } | undefined {
      const refName = refIn(revision)
      if (refName === undefined) return undefined
      for (const [pattern, { refs, at }] of all.get(repository) ?? []) {
        const commit = at >= since && matchesWildcard(pattern, refName) ? refs.get(refName) : undefined
        if (commit !== undefined) return { commit, refName }
      }
      return undefined
    },
  }
}

/** The whole name of the one ref that is meant, where it can be no other. */
export function refIn(revision: Revision): string | undefined {
  if (revision.kind === 'branch') return `refs/heads/${revision.name}`
  return revision.kind === 'full' ? revision.name : undefined
}
