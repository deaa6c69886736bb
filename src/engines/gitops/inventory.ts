import type { Entry } from './change-set.ts'
import { keyOfId, type ObjectId } from './object-id.ts'
import type { Desired } from './place.ts'

/** One object that is ours, or may be. */
export interface Held {
  readonly id: ObjectId
  readonly version: string
  /** Of the object that we wrote; unknown while a write may be under way. */
  readonly uid?: string
  /** Of the content that is certainly in effect. Without it the object is written again. */
  readonly hash?: string
}

/** All that a sync has ever made and not yet removed, in one destination. */
export interface Inventory {
  /** URL of the server that the objects are on; empty where it is not known, and then it is the destination's. */
  readonly server: string
  readonly held: readonly Held[]
}

/** Where an inventory outlives the process. `save` fails with `conflict` when somebody else saved since `load`. */
export interface InventoryStore {
  load(): Promise<Inventory | undefined>
  save(inventory: Inventory): Promise<void>
}

/** What is held on this server, and what was held on another one. */
export async function loadFor(
  server: string,
  store: InventoryStore,
): Promise<{ inventory: Inventory; leftBehind: readonly Held[] }> {
  const { server: former = '', held = [] } = (await store.load()) ?? {}
  // The same names in another cluster are other objects, and the way to the old ones is gone.
  const isElsewhere = former !== '' && former !== server
  return { inventory: { server, held: isElsewhere ? [] : held }, leftBehind: isElsewhere ? held : [] }
}

/**
 * What to write before the first change: everything that was there, and everything about to be written. An object whose
 * write is under way has no hash, so a crash in between leaves neither an orphan nor a wrong "unchanged".
 */
export function superset(before: readonly Held[], toApply: readonly Desired[]): readonly Held[] {
  if (toApply.length === 0) return before
  const held = new Map(before.map((item) => [keyOfId(item.id), item]))
  for (const { id, version } of toApply) {
    const uid = held.get(keyOfId(id))?.uid
    held.set(keyOfId(id), { id, version, ...(uid !== undefined && { uid }) })
  }
  return [...held.values()]
}

/** What is so after all changes: what was removed or let go is out, what was written has its hash. */
export function exact(before: readonly Held[], desired: readonly Desired[], entries: readonly Entry[]): Held[] {
  const wanted = new Map(desired.map((item) => [keyOfId(item.id), item]))
  const held = new Map(before.map((item) => [keyOfId(item.id), item]))
  for (const { id, change, undone, ...entry } of entries) {
    const key = keyOfId(id)
    const uid = entry.uid ?? held.get(key)?.uid
    const target = wanted.get(key)
    if (!target && (change === 'pruned' || change === 'skipped')) held.delete(key)
    if (target && (change === 'created' || change === 'configured' || change === 'unchanged'))
      held.set(key, { id, version: target.version, hash: target.hash, ...(uid !== undefined && { uid }) })
    if (target && change === 'skipped' && !undone) held.delete(key)
  }
  return [...held.values()]
}

/** Whether there is nothing new to write down. */
export const isSame = (before: readonly Held[], after: readonly Held[]): boolean =>
  before === after || (before.length === after.length && before.every((item, index) => isSameItem(item, after[index])))

const isSameItem = (a: Held, b: Held | undefined): boolean =>
  a === b || (a.uid === b?.uid && a.hash === b?.hash && a.version === b?.version && keyOfId(a.id) === (b && keyOfId(b.id)))

/** What one list shows: of one kind, in one version, in one namespace. */
export function groupsOf(held: readonly Held[]): Held[][] {
  const groups = new Map<string, Held[]>()
  for (const item of held) {
    const key = `${item.id.group}/${item.version}/${item.id.kind}/${item.id.namespace ?? ''}`
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}
