import type { AnyObject } from '../../../api/index.ts'
import { keyOfId } from '../../apply/index.ts'
import { type Render, type Snapshot, type Variables, withVariables } from '../../render/index.ts'
import { dependenciesOf } from '../objects/annotations.ts'
import type { Entry } from '../objects/change-set.ts'
import { type Desired, type Destination, hashOf, type Owner, place } from '../objects/place.ts'

/** The objects that a commit wants in a destination. */
export interface Wanted {
  /** How many objects the path describes. */
  rendered: number
  desired: readonly Desired[]
  byKey: ReadonlyMap<string, Desired>
  refused: readonly Entry[]
  /** Of all objects that the path describes, whether they may be applied or not. The very same set as before where it would hold the same. */
  keys: ReadonlySet<string>
  /** By key: in which wave an object is, where it is not wave 0. */
  waves: ReadonlyMap<string, number>
  /** Whether any of them depends on another. */
  isLinked: boolean
}

export interface Wanting {
  snapshot: Snapshot
  path: string
  destination: Destination
  owner: Owner
  variables?: Variables | undefined
}

/** The last answer, for whoever asks again the same, or nearly the same. */
export interface Remembered {
  snapshot: Snapshot
  rest: string
  wanted: Wanted | undefined
  keys: ReadonlySet<string>
  /** By rendered object, for a commit changes few of them. */
  placed: WeakMap<AnyObject, Desired>
}

/** Render and place. Asked again about the same commit and destination, it answers without looking at a single object. */
export async function wantedOf(
  wanting: Wanting,
  render: Render,
  memory: { wanted?: Remembered | undefined },
  signal?: AbortSignal,
): Promise<Wanted> {
  const { snapshot, path, destination, owner, variables } = wanting
  const rest = restOf(wanting)
  const last = memory.wanted?.rest === rest ? memory.wanted : undefined
  if (last?.wanted && last.snapshot === snapshot) return last.wanted
  const placed = last?.placed ?? new WeakMap()
  const manifests = withVariables(await render(snapshot, path, signal), variables)
  const { desired, byKey, refused, waves } = await place(manifests, destination, owner, placed)
  const keys = keysOf(byKey, refused, last?.keys)
  const isLinked = waves.size > 0 || desired.some(({ object }) => isDependent(object))
  const wanted = { rendered: manifests.length, desired, byKey, refused, keys, waves, isLinked }
  // An object that was refused may be allowed the next time: its kind may be served by then.
  memory.wanted = { snapshot, rest, wanted: refused.length === 0 ? wanted : undefined, keys, placed }
  return wanted
}

/** Most commits change objects, and not which ones there are: then nobody need compare the keys. */
function keysOf(
  desired: ReadonlyMap<string, Desired>,
  refused: readonly Entry[],
  before: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const others = refused.map(({ id }) => keyOfId(id))
  const isSame = desired.size + others.length === before.size && [desired.keys(), others].every((keys) => all(keys, before))
  return isSame ? before : new Set([...desired.keys(), ...others])
}

function all(keys: Iterable<string>, known: ReadonlySet<string>): boolean {
  for (const key of keys) if (!known.has(key)) return false
  return true
}

function isDependent(object: AnyObject): boolean {
  const { ids, problem } = dependenciesOf(object)
  return ids.length > 0 || problem !== undefined
}

/**
 * All but the snapshot, which is told by its identity: following.ts makes a new one for each commit. The values of variables may be large
 * and secret, and this is remembered for as long as the sync is.
 */
function restOf({ path, destination, owner, variables }: Wanting): string {
  const { kube, ...limits } = destination
  const values = variables && hashOf(Object.fromEntries(variables.values))
  return JSON.stringify([path, kube.server, limits, owner, values, variables?.strict])
}
