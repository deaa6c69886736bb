import type { Kube } from '../../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type Kind, typeMetaOf } from '../../../api/index.ts'
import { isFailure } from '../../../std/index.ts'
import { byKey, idOf, keyOfId, type ObjectId, refOfId, sayId } from '../../apply/index.ts'
import { type Health, type HealthStatus, worse } from '../../health/index.ts'
import { groupsOf, type Held } from '../inventory/inventory.ts'
import { sentenceAbout } from '../objects/change-set.ts'
import { eachListed, kindOfAny, type SyncContext } from '../objects/context.ts'
import { endOf, type HookEnd } from '../objects/hook-runs.ts'
import { type HookPhase, hookOf } from '../objects/hooks.ts'
import { type Desired, OWNER_LABEL } from '../objects/place.ts'
import {
  healthIn,
  isAsDesired,
  type ObjectState,
  type ObjectStates,
  type ObservationRules,
  stateOf,
  type UnreadableObject,
} from './object-state.ts'

interface Reading extends SyncContext {
  rules: ObservationRules
  desired: readonly Desired[]
  /** As they were seen before, which tells how the server itself writes our values, for one. */
  before?: ObjectStates | undefined
}

/** Reads what is held: one list per kind and namespace, by our label; object by object where listing is not allowed. */
export async function readStates(
  held: readonly Held[],
  { kube, owner, signal, rules, desired, before }: Reading,
): Promise<ObjectStates> {
  const states = new Map<string, ObjectState>()
  const wanted = byKey(desired)
  const write = (key: string, seen: AnyObject) => states.set(key, stateOf(seen, wanted.get(key), rules, before?.get(key)))
  for (const group of groupsOf(held)) {
    const [first] = group
    const kind = first && (await kube.resolve(apiVersionOf({ group: first.id.group, version: first.version }), first.id.kind))
    const isListed = kind && (await listGroup(kube, kind, group, { owner, signal, write }))
    for (const { id, key } of group) {
      if (states.has(key)) continue
      const seen = isListed || !kind ? undefined : await readOne(kube, kind, id, owner, signal)
      if (isState(seen)) states.set(key, seen)
      else if (seen) write(key, seen)
      else states.set(key, { presence: 'absent', version: '' })
    }
  }
  return states
}

const isState = (seen: AnyObject | UnreadableObject | undefined): seen is UnreadableObject =>
  seen !== undefined && 'presence' in seen

interface Noting {
  owner: string
  signal: AbortSignal | undefined
  write: (key: string, seen: AnyObject) => void
}

/** `false` where it does not pay or is not allowed. */
async function listGroup(kube: Kube, kind: Kind, group: Held[], { owner, signal, write }: Noting): Promise<boolean> {
  if (group.length < 2) return false
  const namespace = group[0]?.id.namespace
  const query = { ...(namespace && { namespace }), labels: `${OWNER_LABEL}=${owner}` }
  const held = new Set(group.map(({ key }) => key))
  try {
    await eachListed(kube, { kind: kindOfAny(kind), query, signal }, (object) => {
      const key = keyOfId(idOf(object))
      if (held.has(key)) write(key, object)
    })
    return true
  } catch (failure) {
    if (isFailure(failure, 'forbidden')) return false
    throw failure
  }
}

async function readOne(
  kube: Kube,
  kind: Kind,
  id: ObjectId,
  owner: string,
  signal?: AbortSignal,
): Promise<AnyObject | UnreadableObject | undefined> {
  try {
    const object = await kube.get(kindOfAny(kind), refOfId(id), signal)
    // A list would not show it either: without our label it has drifted.
    if (object?.metadata.labels?.[OWNER_LABEL] !== owner) return undefined
    return { ...object, ...typeMetaOf(kind) }
  } catch (failure) {
    if (isFailure(failure, 'forbidden')) return { presence: 'unreadable', why: sentenceAbout(id, failure) }
    throw failure
  }
}

interface ObservedObject {
  id: ObjectId
  version: string
  health: Health
  /** JSON pointers of the fields that differ from the repository. */
  drift: readonly string[]
  /** When it runs, where it is a hook. */
  hook?: HookPhase
}

export interface Observed {
  /** The worst among the objects. */
  health: Health
  objects: ObservedObject[]
  /** When it would be said in another way without anything being heard: some things get worse by waiting alone. */
  until: number
}

const NONE: readonly string[] = []

/** One that is over does well, though it may be gone, and one for failed syncs takes nobody's health away; `undefined`: as it is seen. */
function healthOfHook(
  phase: HookPhase | undefined,
  end: HookEnd | undefined,
  state: ObjectState | undefined,
): Health | undefined {
  if (phase === 'SyncFail' || end === 'succeeded') return { status: 'Healthy' }
  if (end === undefined) return undefined
  const seen = state?.presence === 'present' ? state.health : undefined
  return seen?.status === 'Degraded' ? seen : { status: 'Degraded', message: 'failed' }
}

/** How everything that is held does. What is not `wanted` waits to be pruned. */
export function observedIn(
  states: ObjectStates,
  held: readonly Held[],
  wanted: ReadonlyMap<string, Desired>,
  now: number,
): Observed {
  let until = Number.POSITIVE_INFINITY
  const objects = held.map(({ key, id, version, hash }) => {
    const desired = wanted.get(key)
    const state = states.get(key)
    const phase = desired && hookOf(desired.object)?.phase
    const hook = phase && { hook: phase }
    const settled = healthOfHook(phase, endOf(hash), state)
    if (settled) return { id, version, health: settled, drift: NONE, ...hook }
    const at = state?.presence === 'present' ? state.healthAfterWait?.at : undefined
    if (at !== undefined && at > now) until = Math.min(until, at)
    const drift = state?.presence === 'present' && desired && !isAsDesired(state, desired) ? state.drift : NONE
    return { id, version, health: healthIn(state, now, desired), drift, ...hook }
  })
  const status = objects.reduce<HealthStatus>((worst, { health }) => worse(worst, health.status), 'Healthy')
  const culprit = objects.find(({ health }) => health.status === status && health.message !== undefined)
  return { health: { status, ...(culprit && { message: `${sayId(culprit.id)} ${culprit.health.message}` }) }, objects, until }
}
