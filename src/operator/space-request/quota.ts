import type { Quantities, SpaceRequest, SpaceTierSpec } from '../../api/index.ts'
import { quantity } from '../../std/index.ts'
import { unableBecause } from './failures.ts'

/**
 * The tier's quota, narrowed where the claim asks for less. The tier is the ceiling: more than it gives is refused, since
 * a target must not promise what its namespace does not have. What the tier does not limit stays without a limit.
 */
export function quotaOf(request: SpaceRequest, tierName: string, tier: SpaceTierSpec): Quantities {
  const quota: Quantities = { ...tier.quota }
  for (const [key, asked] of Object.entries(askedFor(request))) {
    const most = quota[key]
    if (most === undefined) continue
    if (quantity(asked) > quantity(most))
      throw unableBecause(
        'QuotaTooSmall',
        `asks for ${key} ${asked}, but SpaceTier ${tierName} gives at most ${most}`,
        'Ask for less, or use a class with a larger tier',
      )
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
