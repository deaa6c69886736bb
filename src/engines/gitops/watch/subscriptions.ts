import { isNewer } from '../../../adapters/kube/index.ts'
import { type Clock, minutes } from '../../../std/index.ts'
import { type ObjectState, type ObjectStates, versionOf } from '../state/object-state.ts'
import type { ObjectGroup } from './tracked-objects.ts'
import type { Subscriber, Subscription, Watches } from './watches.ts'

/** Where watching was refused, it is tried again after this time, or when something could be written there. */
const RETRY = minutes(5)

/** The subscriptions of a sync to the watches on its objects, by group. */
export function createSubscriptions(watches: Watches, clock: Clock, subscriber: Subscriber) {
  const subscriptions = new Map<string, { subscription: Subscription; isListed: boolean; since: number }>()

  const drop = (groups: ReadonlyMap<string, ObjectGroup>) => {
    for (const [name, { subscription, since }] of subscriptions) {
      const isStale = subscription.status === 'unavailable' && clock.now() - since > RETRY
      const scope = groups.get(name)?.scope
      if (scope?.kube === subscription.scope.kube && scope.kind.plural === subscription.scope.kind.plural && !isStale) continue
      subscription.unsubscribe()
      subscriptions.delete(name)
    }
  }
  const subscribe = ({ name, scope, held }: ObjectGroup, states: ObjectStates): Subscription | undefined => {
    if (!scope) return undefined
    const from = versionKnown(held, states)
    const subscription = held.size > 0 ? watches.subscribe(scope, subscriber, from) : watches.subscribeIfOpen(scope, subscriber)
    if (subscription)
      subscriptions.set(name, { subscription, isListed: held.size === 0 || from !== undefined, since: clock.now() })
    return subscription
  }

  return {
    /** Subscribes for each group in which something is held, and ends the subscriptions for other groups. */
    update(groups: ReadonlyMap<string, ObjectGroup>, states: ObjectStates): void {
      drop(groups)
      for (const group of groups.values()) {
        const subscription = subscriptions.get(group.name)?.subscription ?? subscribe(group, states)
        // Somebody waits for these, so the watch does not wait until nothing is written.
        if (subscription?.status === 'queued' && [...group.held].some((key) => isOnItsWay(states.get(key))))
          subscription.openNow()
      }
    },
    /** A group is told of by a list of all its objects, only by changes from now on, or not at all. */
    coverageOf(group: string): 'list' | 'changes' | 'nothing' {
      const known = subscriptions.get(group)
      if (!known || known.subscription.status === 'unavailable') return 'nothing'
      return known.isListed ? 'changes' : 'list'
    },
    /** The list of the group was told to its end. */
    listed(group: string): void {
      const known = subscriptions.get(group)
      if (known) known.isListed = true
    },
    /** Something of the group was written: a tenant that may write by now may watch as well. */
    wrote(group: ObjectGroup | undefined): void {
      const known = subscriptions.get(group?.name ?? '')
      if (known?.subscription.status === 'unavailable') known.since = Number.NEGATIVE_INFINITY
    },
    unsubscribe(): void {
      for (const { subscription } of subscriptions.values()) subscription.unsubscribe()
      subscriptions.clear()
    },
  }
}

/** The oldest version of these; `undefined` if one of them was never seen. */
function versionKnown(keys: Iterable<string>, states: ObjectStates): string | undefined {
  let oldest: string | undefined
  for (const key of keys) {
    const version = versionOf(states.get(key))
    if (version === '') return undefined
    if (oldest === undefined || isNewer(oldest, version)) oldest = version
  }
  return oldest
}

const isOnItsWay = (state: ObjectState | undefined): boolean =>
  state?.presence === 'present' && (state.health.status === 'Progressing' || state.health.status === 'Degraded')
