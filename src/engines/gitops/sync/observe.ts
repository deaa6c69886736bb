import type { Clock } from '../../../std/index.ts'
import type { Held } from '../inventory/inventory.ts'
import type { SyncContext } from '../objects/context.ts'
import type { Desired, Destination, Owner } from '../objects/place.ts'
import type { ObservationRules } from '../state/object-state.ts'
import { observedIn, readStates } from '../state/read-states.ts'
import type { SyncMemory } from '../watch/sync-memory.ts'
import { createUnwatchedStates, type WatchedStates } from '../watch/watched-states.ts'

interface Observing extends SyncContext {
  rules: ObservationRules
  desired: readonly Desired[]
  held: readonly Held[]
}

/** The states of the objects as watches tell them, read from the server where `compare` asks for it. */
export async function statesOf(
  memory: SyncMemory | undefined,
  compare: boolean | 'all',
  observing: Observing,
): Promise<{ states: WatchedStates; read: readonly Held[] }> {
  const states = memory?.states ?? createUnwatchedStates(observing.rules)
  await states.follow(observing)
  const read = compare === 'all' ? observing.held : compare ? states.unwatched(observing.held) : []
  if (read.length > 0) states.read(await readStates(read, { ...observing, before: states.current }))
  return { states, read }
}

/** The same one each time: who compares it sees that nothing has changed. */
const NOTHING: readonly Desired[] = []

interface ObserveRequest {
  destination: Destination
  owner: Owner
  memory: SyncMemory
  held: readonly Held[]
  rules: Omit<ObservationRules, 'now'>
}

/** Tells how everything that is held does between two syncs. */
export async function observe(
  { destination: { kube }, owner, memory, held, rules }: ObserveRequest,
  clock: Clock,
  signal?: AbortSignal,
) {
  const observing = { kube, owner: owner.id, clock, signal, rules: { ...rules, now: clock.now }, desired: NOTHING, held }
  const { states, read } = await statesOf(memory, true, observing)
  return {
    get observed() {
      return observedIn(states.current, held, new Map(), clock.now())
    },
    /** Whether the watches have yet to tell of some of them. */
    isListing: states.isListing,
    isWatched: read.length === 0,
  }
}
