import { type Held, type Inventory, superset } from '../inventory/inventory.ts'
import type { Entry } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import type { Desired } from '../objects/place.ts'
import { type Applying, applyItems, save } from './apply-items.ts'
import { exactWithHooks, isFailed, openHooks, withEnds } from './hooks.ts'
import type { SyncRequest } from './request.ts'

interface EndingHooks extends Applying {
  held: readonly Held[]
  applied: readonly Entry[]
  onFailure: readonly Desired[]
}

/** Writes down which hooks are over, and where one of them or an object failed, runs those for that case. */
export async function endHooks(
  request: SyncRequest,
  { held, applied, onFailure, ...applying }: EndingHooks,
  context: SyncContext,
): Promise<{ recorded: Inventory; held: readonly Held[]; entries: readonly Entry[] }> {
  const { hooks, wanted, states, before } = applying
  if (!hooks) return { recorded: before, held, entries: [] }
  const looking = { states: states.current, wanted, now: context.clock.now() }
  const now = withEnds(held, hooks, looking)
  const open = openHooks(now, hooks, looking)
  const isDue = onFailure.length > 0 && isFailed([...wanted.refused, ...applied, ...open])
  if (!isDue) return { recorded: before, held: now, entries: open }
  const running = await save(request, before, superset(now, onFailure))
  const ofFailure = { ...applying, items: onFailure, set: onFailure, refused: [], before: running }
  const ran = await applyItems(request, ofFailure, context)
  const after = exactWithHooks(running.held, wanted.desired, { entries: ran.applied, hooks })
  return { recorded: ran.recorded, held: withEnds(after, hooks, looking), entries: [...open, ...ran.applied] }
}
