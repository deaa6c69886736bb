import type { Kube } from '../../../adapters/kube/index.ts'
import type { Kind } from '../../../api/index.ts'
import { apiVersionFor } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { turnover } from '../objects/lists.ts'
import type { Desired } from '../objects/place.ts'
import { kindOfAny } from '../state/observe.ts'
import type { Spot } from './watches.ts'

/** A place has objects of one kind, in one version, in one namespace, that a sync has or is about to have. */
export interface Place {
  readonly name: string
  /** None while the kind is not served. */
  readonly spot: Spot | undefined
  /** Keys of what is held there already. */
  readonly held: ReadonlySet<string>
}

/** An object that is wanted, held, or both. */
export interface Tracked {
  readonly key: string
  readonly desired: Desired | undefined
  readonly held: Held | undefined
  readonly place: Place
}

/** The objects of a sync by their places. From one pass to the next only what changed is looked at. */
export interface Places {
  readonly all: ReadonlyMap<string, Place>
  readonly tracked: ReadonlyMap<string, Tracked>
  /** What it has or wants there. */
  keysAt(place: string): string[]
  /** From now on it has this. Tells whether that is anything new. */
  move(kube: Kube, desired: readonly Desired[], held: readonly Held[]): Promise<boolean>
  clear(): void
}

export const nameOf = ({ kind, namespace = '' }: Spot): string => `${kind.group}/${kind.version}/${kind.kind}/${namespace}`

type Item = Desired | Held

interface Settled extends Place {
  spot: Spot | undefined
  readonly held: Set<string>
  readonly example: Item
  /** How many are wanted or held there: with the last one it is no place any more. */
  items: number
}

export function createPlaces(): Places {
  const all = new Map<string, Settled>()
  const tracked = new Map<string, Tracked>()
  const nothing = { kube: undefined, desired: [], held: [], isLocated: false }
  let last: { kube: Kube | undefined; desired: readonly Desired[]; held: readonly Held[]; isLocated: boolean } = nothing

  const clear = () => {
    all.clear()
    tracked.clear()
    last = nothing
  }
  const placeOf = (item: Item): Settled => {
    const name = placeName(item)
    const place = all.get(name) ?? { name, spot: undefined, held: new Set(), example: item, items: 0 }
    all.set(name, place)
    return place
  }
  const track = (key: string, change: Partial<Pick<Tracked, 'desired' | 'held'>>) => {
    const { desired, held } = { ...tracked.get(key), ...change }
    // While it is held in another version than is wanted, it is told of where it is held.
    const item = held ?? desired
    if (item) tracked.set(key, { key, desired, held, place: placeOf(item) })
    else tracked.delete(key)
  }
  const leave = (item: Item) => {
    const place = placeOf(item)
    if (--place.items === 0) all.delete(place.name)
  }
  const update = (desired: readonly Desired[], held: readonly Held[]) => {
    const [wants, holds] = [turnover(last.desired, desired), turnover(last.held, held)]
    for (const item of holds.gone) placeOf(item).held.delete(item.key)
    for (const { key } of holds.gone) track(key, { held: undefined })
    for (const { key } of wants.gone) track(key, { desired: undefined })
    for (const item of [...wants.come, ...holds.come]) placeOf(item).items++
    for (const item of [...wants.gone, ...holds.gone]) leave(item)
    for (const item of wants.come) track(item.key, { desired: item })
    for (const item of holds.come) track(item.key, { held: item })
    for (const item of holds.come) placeOf(item).held.add(item.key)
  }
  /** A kind may come, go and change meanwhile. */
  const locate = async (kube: Kube) => {
    const kinds = new Map<string, Kind | undefined>()
    for (const place of all.values()) {
      const { id, version } = place.example
      const title = `${id.group}/${version}/${id.kind}`
      if (!kinds.has(title)) kinds.set(title, await kube.resolve(apiVersionFor(id.group, version), id.kind))
      const kind = kinds.get(title)
      if (place.spot?.kind.plural !== kind?.plural) place.spot = kind && { kube, kind: kindOfAny(kind), namespace: id.namespace }
    }
  }
  return {
    all,
    tracked,
    async move(kube, desired, held) {
      if (last.kube !== kube) clear()
      else if (last.isLocated && last.desired === desired && last.held === held) return false
      update(desired, held)
      last = { kube, desired, held, isLocated: false }
      await locate(kube)
      last = { ...last, isLocated: true }
      return true
    },
    keysAt: (name) => [...tracked.values()].flatMap(({ key, place }) => (place.name === name ? [key] : [])),
    clear,
  }
}

const placeName = ({ id: { group, kind, namespace = '' }, version }: Item): string => `${group}/${version}/${kind}/${namespace}`
