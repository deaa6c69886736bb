import type { AnyObject } from '../../../api/index.ts'
import { byKey, keyOfId } from '../../apply/index.ts'
import { type Health, healthOf } from '../../health/index.ts'
import type { IgnoreRules } from '../fields/ignore.ts'
import type { Held } from '../inventory/inventory.ts'
import type { Entry } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import { eachOf } from '../objects/each.ts'
import type { Desired } from '../objects/place.ts'
import { topologicalOrder } from '../objects/topological-order.ts'
import type { Book } from '../state/book.ts'
import type { Writing } from './case.ts'
import { createGate } from './gate.ts'
import type { Standing, Taking } from './keeper.ts'
import { createPatience } from './patience.ts'
import { createServing } from './serving.ts'
import { writeOne } from './write.ts'

/** More at once only makes the API server's queue longer: measured in docs/decisions/0095. */
const AT_ONCE = 16

export interface Applying extends SyncContext {
  /** What is held of these objects already. */
  held: readonly Held[]
  /** The whole set, what needs no write included: dependencies are looked for in it. Without it, what is applied. */
  set?: readonly Desired[] | undefined
  /** Objects of the set that may not be applied. */
  refused?: readonly Entry[] | undefined
  /** What was known before the first write: an apply that changed nothing is told by it. */
  book?: Book | undefined
  /** Called with the answer to each write. */
  wrote?: ((item: Desired, object: AnyObject) => void) | undefined
  /** Called when an object is done, well or badly. */
  told?: ((entry: Entry) => void) | undefined
  /** Whether another sync whose mark an object carries still wants it. */
  standing?: Standing | undefined
  taking?: Taking | undefined
  /** Whether objects are deleted and made anew when a field that cannot be changed has changed. */
  force?: boolean | undefined
  /** Fields that others may change. */
  ignore?: IgnoreRules | undefined
  /** How a dependency does, where the book does not know; by the rules of its kind without it. */
  healthOf?: ((object: AnyObject | undefined) => Health) | undefined
  /** Whether labels may be taken from namespaces that decide what their pods may do. */
  podSecurityLabels?: boolean | undefined
}

/**
 * Server-side apply, step by step: dependencies before dependents, kinds that others need first. One object's failure is its
 * own entry; it stops nothing but what depends on it.
 */
export async function apply(desired: readonly Desired[], applying: Applying): Promise<Entry[]> {
  if (desired.length === 0) return []
  const { set = desired, refused = [], signal } = applying
  const by = writingOf(desired, applying)
  const order = topologicalOrder(set, new Set(refused.map(({ id }) => keyOfId(id))))
  const gate = createGate({ order, set, refused, by })
  const serving = createServing(desired, by)
  const due = new Set(desired)

  const entries: Entry[] = []
  for (const step of order.steps) {
    signal?.throwIfAborted()
    const items = step.filter((item) => due.has(item))
    await serving.ready(items)
    const write = async (item: Desired) => {
      signal?.throwIfAborted()
      const entry = (await gate.obstacle(item)) ?? (await serving.retryUntilServed(item, () => writeOne(item, by)))
      applying.told?.(entry)
      return entry
    }
    const done = await eachOf(items, AT_ONCE, write)
    gate.note(done)
    for (const entry of done) entries.push(entry)
  }
  // What an end called for in the midst of it is no failure of the objects.
  signal?.throwIfAborted()
  return entries
}

function writingOf(desired: readonly Desired[], applying: Applying): Writing {
  const { kube, clock, owner, held, book, wrote, signal } = applying
  const { standing, taking, force = false, ignore, podSecurityLabels = false } = applying
  const due = new Set(desired.map(({ key }) => key))
  const known = byKey(held.filter(({ key }) => due.has(key)))
  const patience = createPatience(clock, signal)
  return {
    ...{ kube, clock, owner, signal, standing, taking, force, ignore, podSecurityLabels },
    uidOf: (key) => known.get(key)?.uid,
    lineOf: (key) => book?.get(key),
    send: ({ id }, request) => patience.send(`${id.group}/${id.kind}/${id.namespace ?? ''}`, request),
    wrote: (item, object) => wrote?.(item, object),
    healthOf: applying.healthOf ?? ((object) => healthOf(object, clock.now())),
  }
}
