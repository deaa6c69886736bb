import { capabilitiesOf } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { keyOfId } from '../../apply/index.ts'
import {
  type ChartSettings,
  type Decryption,
  type Manifest,
  type Render,
  type Snapshot,
  type Variables,
  withDecryption,
  withVariables,
} from '../../render/index.ts'
import { dependenciesOf } from '../objects/annotations.ts'
import type { Entry } from '../objects/change-set.ts'
import type { Hook } from '../objects/hooks.ts'
import { type Desired, type Destination, hashOf, type Owner, place } from '../objects/place.ts'

/** The objects that a commit wants in a destination. */
export interface Wanted {
  /** How many objects the path describes. */
  rendered: number
  desired: readonly Desired[]
  byKey: ReadonlyMap<string, Desired>
  refused: readonly Entry[]
  /** What is not applied at all, and nobody waits for. */
  leftOut: readonly Entry[]
  /** Of all objects that the path describes, whether they may be applied or not. The very same set as before where it would hold the same. */
  keys: ReadonlySet<string>
  /** By key: in which wave an object is, where it is not wave 0. */
  waves: ReadonlyMap<string, number>
  /** Whether any of them depends on another. */
  isLinked: boolean
  /** Where some of them are hooks. */
  hooks: Hooks | undefined
}

/** The objects of a commit that run, and are not kept. */
export interface Hooks {
  byKey: ReadonlyMap<string, Hook>
  /** Digest of all that the path describes, with which they run again. */
  content: string
}

export interface Wanting {
  snapshot: Snapshot
  path: string
  destination: Destination
  owner: Owner
  variables?: Variables | undefined
  decryption?: Decryption | undefined
  chart?: ChartWish | undefined
}

/** How a chart is rendered, for whatever destination. */
export type ChartWish = Omit<ChartSettings, 'namespace' | 'capabilities'>

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
  const { snapshot, path, destination, owner, variables, decryption, chart } = wanting
  const rest = restOf(wanting)
  const last = memory.wanted?.rest === rest ? memory.wanted : undefined
  if (last?.wanted && last.snapshot === snapshot) return last.wanted
  const placed = last?.placed ?? new WeakMap()
  const how = { signal, chart: chart && settingsOf(chart, destination, signal) }
  const rendered = await withDecryption(await render(snapshot, path, how), decryption)
  const manifests = withVariables(rendered, variables)
  const { desired, byKey, refused, leftOut, waves, hooks } = await place(manifests, destination, owner, placed)
  const keys = keysOf(byKey, [...refused, ...leftOut], last?.keys)
  const isLinked = waves.size > 0 || desired.some(({ object }) => isDependent(object))
  const wanted: Wanted = {
    rendered: manifests.length,
    desired,
    byKey,
    refused,
    leftOut,
    keys,
    waves,
    isLinked,
    // Of what is rendered: which kinds the cluster serves so far must not make them run again.
    hooks: hooks.size > 0 ? { byKey: hooks, content: contentOf(manifests) } : undefined,
  }
  // An object that was refused may be allowed the next time: its kind may be served by then.
  memory.wanted = { snapshot, rest, wanted: refused.length === 0 ? wanted : undefined, keys, placed }
  return wanted
}

/** What a chart can ask of a cluster is that of the target, as the tenant sees it. */
const settingsOf = (chart: ChartWish, { kube, namespace = 'default' }: Destination, signal?: AbortSignal): ChartSettings => ({
  ...chart,
  namespace,
  capabilities: () => capabilitiesOf(kube, signal),
})

/** The same for the same objects, in whichever files they stand. */
const contentOf = (manifests: readonly Manifest[]): string => hashOf(manifests.map(({ object }) => hashOf(object)).sort())

/** Most commits change objects, and not which ones there are: then nobody need compare the keys. */
function keysOf(
  desired: ReadonlyMap<string, Desired>,
  others: readonly Entry[],
  before: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const more = others.map(({ id }) => keyOfId(id))
  const isSame = desired.size + more.length === before.size && [desired.keys(), more].every((keys) => all(keys, before))
  return isSame ? before : new Set([...desired.keys(), ...more])
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
function restOf({ path, destination, owner, variables, decryption, chart }: Wanting): string {
  const { kube, ...limits } = destination
  const values = variables && hashOf(Object.fromEntries(variables.values))
  const how = [values, variables?.strict, decryption?.digest, chart && hashOf(chart)]
  return JSON.stringify([path, kube.server, limits, owner, ...how])
}
