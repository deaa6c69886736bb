import { byKey, keyOfId, type ObjectId } from '../../apply/index.ts'
import type { Entry } from '../objects/change-set.ts'
import type { Desired } from '../objects/place.ts'

/** One object that is ours, or may be. */
export interface Held {
  readonly id: ObjectId
  /** Of its id. */
  readonly key: string
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

/** Tells apart what is held on this server and what was held on another one. */
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
 * The inventory before the first change: everything that was there, and everything about to be written. An object whose
 * write is under way has no hash, so a crash in between leaves neither an orphan nor a wrong "unchanged".
 */
export function superset(before: readonly Held[], toApply: readonly Desired[]): readonly Held[] {
  if (toApply.length === 0) return before
  return withChanges(before, byKey(toApply), ({ id, key, version }, record) => {
    const uid = record?.uid
    return { id, key, version, ...(uid !== undefined && { uid }) }
  })
}

/** The inventory after all changes: objects that were removed or released are out, those that were written have their hash. */
export function exact(before: readonly Held[], desired: readonly Desired[], entries: readonly Entry[]): readonly Held[] {
  if (entries.length === 0) return before
  const changes = new Map(entries.map((entry) => [keyOfId(entry.id), entry]))
  const targets = byKey(desired.filter(({ key }) => changes.has(key)))
  return withChanges(before, changes, (entry, record, key) => heldAfter(entry, targets.get(key), record))
}

function heldAfter({ change, undone, uid }: Entry, target: Desired | undefined, record: Held | undefined): Held | undefined {
  if (!target) return change === 'pruned' || change === 'skipped' ? undefined : record
  if (change === 'skipped') return undone ? record : undefined
  if (change !== 'created' && change !== 'configured' && change !== 'unchanged') return record
  const { id, key, version, hash } = target
  const known = uid ?? record?.uid
  return { id, key, version, hash, ...(known !== undefined && { uid: known }) }
}

/** Each in its place, and what was not there at the end. What does not change is the same as before. */
function withChanges<T>(
  before: readonly Held[],
  changes: ReadonlyMap<string, T>,
  change: (how: T, record: Held | undefined, key: string) => Held | undefined,
): Held[] {
  const left = new Map(changes)
  const held: Held[] = []
  for (const item of before) {
    const how = changes.get(item.key)
    const next = how === undefined ? item : change(how, item, item.key)
    if (how !== undefined) left.delete(item.key)
    if (next) held.push(next)
  }
  for (const [key, how] of left) {
    const next = change(how, undefined, key)
    if (next) held.push(next)
  }
  return held
}

/** Whether there is nothing new to write down. */
export const isSame = (before: readonly Held[], after: readonly Held[]): boolean =>
  before === after || (before.length === after.length && before.every((item, index) => isSameItem(item, after[index])))

const isSameItem = (a: Held, b: Held | undefined): boolean =>
  a === b || (a.uid === b?.uid && a.hash === b?.hash && a.version === b?.version && a.key === b?.key)

/** Grouped as one list shows them: of one kind, in one version, in one namespace. */
export const groupsOf = (held: readonly Held[]): Held[][] => [...Map.groupBy(held, groupName).values()]

export const groupName = ({ id: { group, kind, namespace = '' }, version }: Pick<Held, 'id' | 'version'>): string =>
  `${group}/${version}/${kind}/${namespace}`
