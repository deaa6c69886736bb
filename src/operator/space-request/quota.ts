import type { Quantities, SpaceRequest, SpaceTierSpec } from '../../api/index.ts'
import { Failure, quantity } from '../../std/index.ts'

/**
 * The tier's quota, narrowed where the claim asks for less. The tier is the ceiling: more than it gives is refused, since
 * a target must not promise what its namespace does not have. What the tier does not limit stays without a limit.
 */
export function quotaOf(request: SpaceRequest, tierName: string, tier: SpaceTierSpec): Quantities {
  const quota: Quantities = { ...tier.quota }
  for (const [key, asked] of Object.entries(askedFor(request))) {
    const most = quota[key]
    if (most === undefined) continue
    if (quantity(asked) > quantity(most)) throw tooMuch(key, asked, most, tierName)
    quota[key] = asked
  }
  return quota
}

/** A quota counts what all containers together ask for, under `requests.` and `limits.`. */
function askedFor({ spec }: SpaceRequest): Quantities {
  const sides = Object.entries({ requests: spec.resources?.requests, limits: spec.resources?.limits })
  const entries = sides.flatMap(([side, amounts]) =>
    Object.entries(amounts ?? {}).map(([name, amount]) => [`${side}.${name}`, amount]),
  )
  return Object.fromEntries(entries)
}

function tooMuch(key: string, asked: number | string, most: number | string, tier: string): Failure {
  return new Failure('invalid', `asks for ${key} ${asked}, but SpaceTier ${tier} gives at most ${most}`, {
    reason: 'UnableToProvision',
    remedy: 'Ask for less, or use a class with a larger tier',
  })
}
