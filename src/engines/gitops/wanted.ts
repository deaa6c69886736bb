import type { Entry } from './change-set.ts'
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
}

export interface Wanting {
  snapshot: Snapshot
  path: string
  destination: Destination
  owner: Owner
  variables?: Variables | undefined
}

/** The last answer to the same question. */
export interface Remembered {
  snapshot: Snapshot
  rest: string
  wanted: Wanted
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
  if (memory.wanted?.snapshot === snapshot && memory.wanted.rest === rest) return memory.wanted.wanted
  const manifests = withVariables(await render(snapshot, path, signal), variables)
  const { desired, refused } = await place(manifests, destination, owner)
  const keys = new Set([...desired, ...refused].map(({ id }) => keyOfId(id)))
  const wanted = { rendered: manifests.length, desired, refused, keys }
  // What was refused may be allowed the next time: a kind that is served by then, for one.
  memory.wanted = refused.length === 0 ? { snapshot, rest, wanted } : undefined
  return wanted
}

/** All but the snapshot, which is told by its identity: following.ts makes a new one for each commit. */
function restOf({ path, destination, owner, variables }: Wanting): string {
  const { kube, ...limits } = destination
  const values = variables && [...variables.values].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([path, kube.server, limits, owner, values, variables?.strict])
}
