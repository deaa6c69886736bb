import { annotations, type Quantities, quantity, type SpaceRequest, type SpaceTierSpec } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

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
function askedFor(request: SpaceRequest): Quantities {
  const asked: Quantities = {}
  const resources = parsed(request.metadata.annotations?.[annotations.resources])
  for (const side of ['requests', 'limits']) {
    for (const [name, amount] of Object.entries(parsed(resources[side]))) {
      if (typeof amount === 'string' || typeof amount === 'number') asked[`${side}.${name}`] = amount
    }
  }
  return asked
}

function tooMuch(key: string, asked: number | string, most: number | string, tier: string): Failure {
  return new Failure('invalid', `asks for ${key} ${asked}, but SpaceTier ${tier} gives at most ${most}`, {
    reason: 'UnableToProvision',
    remedy: 'Ask for less, or use a class with a larger tier',
  })
}

/** An object, or the JSON of one; anything else is an empty one. */
function parsed(value: unknown): Record<string, unknown> {
  if (typeof value === 'string') return parsed(fromJson(value))
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

function fromJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? undefined : value
  } catch {
    return undefined // Not ours: the provisioner writes JSON.
  }
}
