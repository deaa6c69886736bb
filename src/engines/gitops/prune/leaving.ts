import type { DeleteHow } from '../../../adapters/kube/index.ts'
import { type ObjectId, sayId } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import type { Entry } from '../objects/change-set.ts'
import type { SyncContext } from '../objects/context.ts'
import type { Desired, Destination, Owner } from '../objects/place.ts'
import type { SyncPlan } from '../plan/plan.ts'
import type { Wanted } from '../plan/wanted.ts'
import type { Wants } from '../sharing/wants.ts'
import { healthIn, type ObjectStates, watchedIn } from '../state/object-state.ts'
import { GUARDS, type Guards } from './guards.ts'
import { guardEmptyRender, prune, settledByLooking } from './prune.ts'

/** The part of a request for a sync that decides about deletions. */
export interface PruneSettings {
  destination: Destination
  owner: Owner
  /** Delete what left the repository; otherwise it is released. */
  prune?: boolean
  /** Only when all that the commit describes is healthy. */
  pruneLast?: boolean
  /** When deleting waits for somebody to confirm it; what is left out is as in GUARDS. */
  guards?: Partial<Guards> | undefined
  /** Somebody has confirmed that this commit deletes. */
  confirmed?: boolean
  /** Says which sync wants which object, where several may want the same. */
  wants?: Wants | undefined
  /** Whether others have yet to say what they want of this commit. */
  isEarly?: (() => boolean) | undefined
  /** How dependents of a deleted object are deleted; as the server has it without it. */
  propagation?: DeleteHow['propagation']
}

interface Pruned {
  pruned: Entry[]
  deletionsLater: readonly Held[]
}

interface Leaving {
  plan: SyncPlan
  wanted: Wanted
  held: readonly Held[]
  states: ObjectStates
  /** What became of those that were applied. */
  applied: readonly Entry[]
  /** Objects of this commit that are not in effect. */
  undone: number
}

/** Deletes what left the repository, unless somebody else has it by now, may want it, or it must not go yet. */
export async function pruneWhatLeft(request: PruneSettings, leaving: Leaving, context: SyncContext): Promise<Pruned> {
  const { destination, owner, prune: prunes = true, wants, guards, confirmed, propagation } = request
  const { kube } = destination
  const isWantedByOther = ({ key }: Held) => wants?.successorOf(owner.id, kube.server, key) !== undefined
  const { leaves, otherNames } = withoutOtherNames(leaving)
  const wantedByOther = leaves.filter(isWantedByOther)
  const left = leaves.filter((item) => !wantedByOther.includes(item))
  const guarded = { held: leaving.held, rendered: leaving.wanted.rendered, guards: { ...GUARDS, ...guards }, confirmed }
  if (!prunes)
    return {
      pruned: [...otherNames, ...wantedByOther.map(released), ...(guardEmptyRender(left, guarded) ?? left.map(released))],
      deletionsLater: [],
    }
  // It is ours until it carries another owner label: the sync that wants it may fail to take it.
  const takenByOther = [...otherNames, ...(await settledByLooking(wantedByOther, { ...context, held: leaving.held }))]
  const pending = wantedByOther.filter(({ id }) => !takenByOther.some((entry) => entry.id === id))
  // The new revision may need what the old one brings along, until it is in effect as a whole.
  if (leaving.undone > 0) return { pruned: takenByOther, deletionsLater: pending }
  // It may be on its way to another sync that has not looked at this commit yet.
  if (left.length > 0 && request.isEarly?.()) return { pruned: takenByOther, deletionsLater: [...pending, ...left] }
  const unhealthy = request.pruneLast && left.length > 0 ? firstUnhealthy(leaving, context.clock.now()) : undefined
  if (unhealthy !== undefined) return { pruned: [...takenByOther, ...left.map(stays(unhealthy))], deletionsLater: pending }
  const watched = (key: string) => watchedIn(leaving.states.get(key))
  const pruned = await prune(left, { ...guarded, ...context, limits: destination, watched, propagation })
  return { pruned: [...takenByOther, ...pruned], deletionsLater: pending }
}

/** One object may be served by two groups of the API: where its manifest moved from one to the other, it did not leave. */
function withoutOtherNames({ plan, wanted, held, applied }: Leaving): { leaves: readonly Held[]; otherNames: Entry[] } {
  const stays = new Map<string, ObjectId>()
  if (plan.prune.length > 0)
    for (const { uid, id } of [...held.filter(({ key }) => wanted.byKey.has(key)), ...applied])
      if (uid !== undefined) stays.set(uid, id)
  const nameNow = ({ uid = '' }: Held) => stays.get(uid)
  return {
    leaves: plan.prune.filter((item) => !nameNow(item)),
    otherNames: plan.prune.flatMap((item): Entry[] => {
      const now = nameNow(item)
      return now ? [{ id: item.id, change: 'skipped', why: `is the same object as ${sayId(now)}, which stays` }] : []
    }),
  }
}

/** The first object of the commit that is not healthy. */
function firstUnhealthy({ wanted, states }: Leaving, now: number): string | undefined {
  const isKept = ({ key }: Desired) => !wanted.hooks?.byKey.has(key)
  const unhealthy = wanted.desired.find((item) => isKept(item) && healthIn(states.get(item.key), now, item).status !== 'Healthy')
  return unhealthy && sayId(unhealthy.id)
}

const stays =
  (unhealthy: string) =>
  ({ id }: Held): Entry => ({
    id,
    change: 'waiting',
    why: `left the repository; PruneLast=true: it stays until ${unhealthy} is healthy`,
  })

export const released = ({ id }: Held): Entry => ({
  id,
  change: 'skipped',
  why: 'left the repository; pruning is off, so it stays',
})
