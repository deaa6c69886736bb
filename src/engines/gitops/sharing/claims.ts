/** That a sync wants an object. */
export interface Claim {
  readonly owner: string
  readonly since: number
  /** Whether the server let it write the object when it was tried last; unknown before. */
  can?: boolean | undefined
  /** Since when it may take it. */
  offeredAt?: number | undefined
}

/** Who wants what is at a place, the key of an object on a server; the first to want it comes first. */
export interface Claims {
  own(owner: string, place: string): Claim | undefined
  others(owner: string, place: string): Claim[]
  /** What was offered to others there is wanted again. Answers them. */
  add(claim: Claim, place: string): Claim[]
  /** Answers who is left. */
  remove(owner: string, place: string): Claim[]
  /** Places at which more than one wants something. */
  readonly shared: ReadonlySet<string>
}

export function createClaims(): Claims {
  const claims = new Map<string, readonly Claim[]>()
  const shared = new Set<string>()
  const others = (owner: string, place: string) => (claims.get(place) ?? []).filter((claim) => claim.owner !== owner)
  const keep = (place: string, left: readonly Claim[]) => {
    if (left.length > 0) claims.set(place, left)
    else claims.delete(place)
    if (left.length > 1) shared.add(place)
    else shared.delete(place)
  }
  return {
    own: (owner, place) => claims.get(place)?.find((claim) => claim.owner === owner),
    others,
    add(claim, place) {
      const there = others(claim.owner, place).map((other) => ({ ...other, offeredAt: undefined }))
      keep(place, [...there, claim])
      return there
    },
    remove(owner, place) {
      const left = others(owner, place)
      keep(place, left)
      return left
    },
    shared,
  }
}
