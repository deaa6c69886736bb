import type { Kube } from '../../../adapters/kube/index.ts'
import { apiVersionOf, type Kind } from '../../../api/index.ts'
import { groupName, type Held } from '../inventory/inventory.ts'
import { kindOfAny } from '../objects/context.ts'
import { turnover } from '../objects/lists.ts'
import type { Desired } from '../objects/place.ts'
import type { ObjectScope } from './watches.ts'

/** The objects of one kind, in one version, in one namespace, that a sync has or is about to have. */
export interface ObjectGroup {
  readonly name: string
  /** None while the kind is not served. */
  readonly scope: ObjectScope | undefined
  /** Keys of those that are held already. */
  readonly held: ReadonlySet<string>
}

/** An object that is wanted, held, or both. */
export interface Tracked {
  readonly key: string
  readonly desired: Desired | undefined
  readonly held: Held | undefined
  readonly group: ObjectGroup
}

export const nameOf = ({ kind, namespace = '' }: ObjectScope): string => `${kind.group}/${kind.version}/${kind.kind}/${namespace}`

type Item = Desired | Held

interface CountedGroup extends ObjectGroup {
  scope: ObjectScope | undefined
  readonly held: Set<string>
  readonly example: Item
  /** How many are wanted or held: with the last one the group goes. */
  items: number
}

/** The objects of a sync by their groups. From one pass to the next only what changed is looked at. */
export function createTrackedObjects() {
  const all = new Map<string, CountedGroup>()
  const tracked = new Map<string, Tracked>()
  const nothing = { kube: undefined, desired: [], held: [], isLocated: false }
  let last: { kube: Kube | undefined; desired: readonly Desired[]; held: readonly Held[]; isLocated: boolean } = nothing

  const clear = () => {
    all.clear()
    tracked.clear()
    last = nothing
  }
  const groupOf = (item: Item): CountedGroup => {
    const name = groupName(item)
    const group = all.get(name) ?? { name, scope: undefined, held: new Set(), example: item, items: 0 }
    all.set(name, group)
    return group
  }
  const track = (key: string, change: Partial<Pick<Tracked, 'desired' | 'held'>>) => {
    const { desired, held } = { ...tracked.get(key), ...change }
    // While it is held in another version than is wanted, it is told of where it is held.
    const item = held ?? desired
    if (item) tracked.set(key, { key, desired, held, group: groupOf(item) })
    else tracked.delete(key)
  }
  const uncount = (item: Item) => {
    const group = groupOf(item)
    if (--group.items === 0) all.delete(group.name)
  }
  const update = (desired: readonly Desired[], held: readonly Held[]) => {
    const [wants, holds] = [turnover(last.desired, desired), turnover(last.held, held)]
    for (const item of holds.gone) groupOf(item).held.delete(item.key)
    for (const { key } of holds.gone) track(key, { held: undefined })
    for (const { key } of wants.gone) track(key, { desired: undefined })
    for (const item of [...wants.come, ...holds.come]) groupOf(item).items++
    for (const item of [...wants.gone, ...holds.gone]) uncount(item)
    for (const item of wants.come) track(item.key, { desired: item })
    for (const item of holds.come) track(item.key, { held: item })
    for (const item of holds.come) groupOf(item).held.add(item.key)
  }
  /** A kind may come, go and change meanwhile. */
  const locate = async (kube: Kube) => {
    const kinds = new Map<string, Kind | undefined>()
    for (const group of all.values()) {
      const { id, version } = group.example
      const title = `${id.group}/${version}/${id.kind}`
      if (!kinds.has(title)) kinds.set(title, await kube.resolve(apiVersionOf({ group: id.group, version }), id.kind))
      const kind = kinds.get(title)
      if (group.scope?.kind.plural !== kind?.plural)
        group.scope = kind && { kube, kind: kindOfAny(kind), namespace: id.namespace }
    }
  }
  return {
    all,
    tracked,
    /** From now on these are the objects. Tells whether anything is new. */
    async move(kube: Kube, desired: readonly Desired[], held: readonly Held[]): Promise<boolean> {
      if (last.kube !== kube) clear()
      else if (last.isLocated && last.desired === desired && last.held === held) return false
      update(desired, held)
      last = { kube, desired, held, isLocated: false }
      await locate(kube)
      last = { ...last, isLocated: true }
      return true
    },
    /** Keys of what is wanted or held in the group. */
    keysIn: (name: string): string[] => [...tracked.values()].flatMap(({ key, group }) => (group.name === name ? [key] : [])),
    clear,
  }
}
