import type { AnyObject } from '../../api/index.ts'
import type { Entry } from './change-set.ts'
import { dependenciesOf } from './depends-on.ts'
import { keyOfId } from './object-id.ts'
import { type Desired, type Destination, type Owner, place } from './place.ts'
import type { Render } from './render.ts'
import type { Snapshot } from './source.ts'
import { type Variables, withVariables } from './variables.ts'

/** What a commit wants to be in a destination. */
export interface Wanted {
  /** How many objects the path describes. */
  rendered: number
  desired: readonly Desired[]
  refused: readonly Entry[]
  /** Of all objects that the path describes, whether they may be applied or not. */
  keys: ReadonlySet<string>
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
  /** What became of which rendered object: a commit changes few of them. */
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
  const { desired, refused } = await place(manifests, destination, owner, placed)
  const keys = new Set([...desired, ...refused].map(({ id }) => keyOfId(id)))
  const isLinked = desired.some(({ object }) => isDependent(object))
  const wanted = { rendered: manifests.length, desired, refused, keys, isLinked }
  // What was refused may be allowed the next time: a kind that is served by then, for one.
  memory.wanted = { snapshot, rest, wanted: refused.length === 0 ? wanted : undefined, placed }
  return wanted
}

function isDependent(object: AnyObject): boolean {
  const { ids, problem } = dependenciesOf(object)
  return ids.length > 0 || problem !== undefined
}

/** All but the snapshot, which is told by its identity: following.ts makes a new one for each commit. */
function restOf({ path, destination, owner, variables }: Wanting): string {
  const { kube, ...limits } = destination
  const values = variables && [...variables.values].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([path, kube.server, limits, owner, values, variables?.strict])
}
