import type { Kube } from '../../../adapters/kube/index.ts'
import type { AnyObject, Kind } from '../../../api/index.ts'
import type { Held } from '../inventory.ts'
import { apiVersionFor, keyOfId } from '../object-id.ts'
import { kindOfAny } from '../observe.ts'
import type { Desired } from '../place.ts'
import type { Spot } from './watches.ts'

/** A spot with what a sync has there, or is about to have. */
export interface Place {
  name: string
  spot: Spot
  /** Of all its objects there. */
  keys: string[]
  /** Of those that are held already. */
  held: string[]
}

export const nameOf = ({ kind, namespace = '' }: Spot): string => `${kind.group}/${kind.version}/${kind.plural}/${namespace}`

/** One place for each kind and namespace; a kind that is not served has none. */
export async function placesOf(kube: Kube, desired: readonly Desired[], held: readonly Held[]): Promise<Place[]> {
  const kinds = new Map<string, Kind<AnyObject> | undefined>()
  const places = new Map<string, Place>()
  const placeOf = async ({ id, version }: Pick<Held, 'id' | 'version'>): Promise<Place | undefined> => {
    const apiVersion = apiVersionFor(id.group, version)
    const title = `${apiVersion}/${id.kind}`
    if (!kinds.has(title)) kinds.set(title, await kindOf(kube, apiVersion, id.kind))
    const kind = kinds.get(title)
    if (!kind) return undefined
    const spot = { kube, kind, namespace: id.namespace }
    const name = nameOf(spot)
    const place = places.get(name) ?? { name, spot, keys: [], held: [] }
    places.set(name, place)
    return place
  }
  for (const item of desired) (await placeOf(item))?.keys.push(keyOfId(item.id))
  for (const item of held) {
    const place = await placeOf(item)
    place?.keys.push(keyOfId(item.id))
    place?.held.push(keyOfId(item.id))
  }
  return [...places.values()]
}

async function kindOf(kube: Kube, apiVersion: string, kind: string): Promise<Kind<AnyObject> | undefined> {
  const found = await kube.resolve(apiVersion, kind)
  return found && kindOfAny(found)
}
