import { groupOf } from '../../../api/index.ts'
import { isRecord } from '../../../std/index.ts'
import { byKey, keyOfId, type ObjectId, sayId } from '../../apply/index.ts'
import { dependenciesOf } from './annotations.ts'
import type { Desired } from './place.ts'
import { needsOfWaves } from './waves.ts'

/** In which order a set is applied, and what keeps single objects of it from being applied at all. */
export interface TopologicalOrder {
  /** One after the other; the objects of one step at once. */
  readonly steps: readonly Desired[][]
  /** By key: the keys of the objects that must be healthy first. */
  readonly needs: ReadonlyMap<string, readonly string[]>
  /** The same for what comes in later waves, and by the beginning of a wave, which is a need, too. */
  readonly waveNeeds: ReadonlyMap<string, readonly string[]>
  /** By key: why its wishes cannot be met, as the rest of a sentence about the object. */
  readonly faults: ReadonlyMap<string, string>
}

/** What else of a commit there is beside the objects that are applied. */
interface Surroundings {
  /** Keys of objects that belong to the set and cannot be applied. */
  elsewhere?: ReadonlySet<string>
  /** By key, of these and those: none where it is wave 0. */
  waves?: ReadonlyMap<string, number>
}

/** References of all objects of a set: each costs more memory than its text. */
const MOST_REFERENCES = 200_000

/**
 * Pure. First by dependencies and waves, then by kind. A dependency outside the set and a cycle are faults of the objects that name them;
 * whoever depends on those is skipped in its turn.
 */
export function topologicalOrder(
  desired: readonly Desired[],
  { elsewhere = new Set(), waves = new Map() }: Surroundings = {},
): TopologicalOrder {
  const set = byKey(desired)
  const needs = new Map<string, string[]>()
  const faults = new Map<string, string>()
  let references = 0
  for (const [key, item] of set) {
    const { ids, problem } = dependenciesOf(item.object)
    if (problem !== undefined) faults.set(key, problem)
    if (ids.length === 0) continue
    references += ids.length
    if (references > MOST_REFERENCES) {
      faults.set(key, TOO_MANY)
      continue
    }
    const found = ids.map((id) => ({ id, key: inSet(id, item.id, set, elsewhere) }))
    const outside = found.find(({ key: there }) => there === undefined)
    if (outside) faults.set(key, `depends on ${sayId(outside.id)}, which is not in this set; correct the annotation`)
    else
      needs.set(
        key,
        found.flatMap(({ key: there }) => there ?? []),
      )
  }
  // Almost no set has any; then there is nothing to walk.
  if (needs.size === 0 && waves.size === 0) return { steps: stepsOf(desired, new Map()), needs, waveNeeds: new Map(), faults }
  const homesOf = homesIn(set)
  const waveNeeds = needsOfWaves(set, elsewhere, { waves, homesOf })
  const { depths, circles } = depthsOf(edgesOf(set, [needs, waveNeeds], homesOf))
  for (const circle of circles) {
    // Of a large one all are told the same, or the texts would take more memory than the objects.
    const ofAll = circle.length < NAMED ? undefined : sayCircle(circle, 0, set)
    for (const [at, key] of circle.entries())
      faults.set(key, `is part of a cycle of dependencies: ${ofAll ?? sayCircle(circle, at, set)}`)
  }
  return { steps: stepsOf(desired, depths), needs, waveNeeds, faults }
}

const TOO_MANY = `depends on objects when ${MOST_REFERENCES} references of others have been read, and no more are; annotate gitops.berth.dev/wave instead of gitops.berth.dev/depends-on`

/** A reference without namespace may mean the namespace of the object that names it: manifests often leave it out. */
function inSet(
  id: ObjectId,
  { namespace }: ObjectId,
  set: ReadonlyMap<string, Desired>,
  elsewhere: ReadonlySet<string>,
): string | undefined {
  const candidates = [keyOfId(id), ...(id.namespace === undefined && namespace ? [keyOfId({ ...id, namespace })] : [])]
  return candidates.find((key) => set.has(key) || elsewhere.has(key))
}

interface Edge {
  to: string
  /** 1 where the other must be healthy before, 0 where coming before it by kind is enough. */
  weight: 0 | 1
}

/** Longest path to each object; what is left when nothing more can be taken away stands in a circle or behind one. */
function depthsOf(edges: ReadonlyMap<string, Edge[]>) {
  const depths = new Map<string, number>()
  const open = new Map([...edges].map(([key, { length }]) => [key, length]))
  const dependents = reversed(edges)
  const ready = [...open].filter(([, count]) => count === 0).map(([key]) => key)
  for (let key = ready.pop(); key !== undefined; key = ready.pop()) {
    let depth = 0
    for (const { to, weight } of edges.get(key) ?? []) depth = Math.max(depth, (depths.get(to) ?? 0) + weight)
    depths.set(key, depth)
    open.delete(key)
    for (const dependent of dependents.get(key) ?? []) {
      const left = (open.get(dependent) ?? 1) - 1
      open.set(dependent, left)
      if (left === 0) ready.push(dependent)
    }
  }
  return { depths, circles: circlesIn(new Set(open.keys()), edges) }
}

/** The order that annotations ask for, and what needs no words: a namespace before its members, a CRD before its resources. */
function edgesOf(
  set: ReadonlyMap<string, Desired>,
  needs: readonly ReadonlyMap<string, readonly string[]>[],
  homesOf: (key: string) => readonly string[],
): Map<string, Edge[]> {
  const edges = new Map<string, Edge[]>()
  const nodes = new Set([...set.keys(), ...needs.flatMap((each) => [...each.keys()])])
  for (const key of nodes) {
    const named = needs.flatMap((each) => each.get(key) ?? []).filter((to) => nodes.has(to))
    const all = [...named.map((to): Edge => ({ to, weight: 1 })), ...homesOf(key).map((to): Edge => ({ to, weight: 0 }))]
    edges.set(key, all)
  }
  return edges
}

/** What an object cannot be without, of the same set: its namespace, and the definition of its kind. */
function homesIn(set: ReadonlyMap<string, Desired>): (key: string) => readonly string[] {
  const definitions = new Map<string, string>()
  for (const [key, item] of set) for (const kind of kindsDeclaredBy(item)) definitions.set(kind, key)
  return (key) => {
    const id = set.get(key)?.id
    if (!id) return []
    const namespace = id.namespace === undefined ? undefined : keyOfId({ group: '', kind: 'Namespace', name: id.namespace })
    return [namespace, definitions.get(kindKey(id))].filter((to) => to !== undefined && set.has(to)).map(String)
  }
}

function reversed(edges: ReadonlyMap<string, Edge[]>): Map<string, string[]> {
  const dependents = new Map<string, string[]>()
  for (const [key, list] of edges)
    for (const { to } of list) {
      const known = dependents.get(to)
      if (known) known.push(key)
      else dependents.set(to, [key])
    }
  return dependents
}

/** Each of these has a way to another of them, so whoever walks on comes back to a place where he was. */
function circlesIn(left: ReadonlySet<string>, edges: ReadonlyMap<string, Edge[]>): string[][] {
  const circles: string[][] = []
  const seen = new Set<string>()
  for (const start of left) {
    const path: string[] = []
    let at: string | undefined = start
    while (at !== undefined && !seen.has(at)) {
      seen.add(at)
      path.push(at)
      at = edges.get(at)?.find(({ to }) => left.has(to))?.to
    }
    if (at !== undefined && path.includes(at)) circles.push(path.slice(path.indexOf(at)))
  }
  return circles
}

/** So many of a circle are named at most. */
const NAMED = 8

/** From the one at this place round to itself, or as far as they are named. */
function sayCircle(circle: readonly string[], at: number, set: ReadonlyMap<string, Desired>): string {
  const isLarge = circle.length >= NAMED
  const names = Array.from({ length: isLarge ? NAMED - 1 : circle.length + 1 }, (_, step) => {
    const key = circle[(at + step) % circle.length] ?? ''
    const id = set.get(key)?.id
    return id ? sayId(id) : key
  })
  return [...names, ...(isLarge ? ['…'] : [])].join(' -> ')
}

function stepsOf(desired: readonly Desired[], depths: ReadonlyMap<string, number>): Desired[][] {
  const layers = Map.groupBy(desired, ({ key }) => depths.get(key) ?? (depths.size === 0 ? 0 : Number.POSITIVE_INFINITY))
  return [...layers].sort(([a], [b]) => a - b).flatMap(([, layer]) => inOrder(layer, ({ id }) => id.kind))
}

/** A CRD and its resources have this key in common, whatever their versions. */
export const kindKey = ({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): string => `${group}/${kind}`

/** The kinds that an object makes the server know: a CRD's. */
export function kindsDeclaredBy({ object: { apiVersion, kind, spec } }: Pick<Desired, 'object'>): string[] {
  if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') return []
  if (!isRecord(spec) || !isRecord(spec.names)) return []
  return [kindKey({ group: String(spec.group), kind: String(spec.names.kind) })]
}

/** Kinds that others need are applied first and deleted last. */
const FIRST = [
  'CustomResourceDefinition',
  'Namespace',
  'ClusterRole',
  'PriorityClass',
  'StorageClass',
  'IngressClass',
  'GatewayClass',
  'RuntimeClass',
  'ClusterRoleBinding',
  'ResourceQuota',
  'LimitRange',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'PersistentVolumeClaim',
  'Service',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
]
/** These may refuse everything else until what they call is up. */
const LAST = ['APIService', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

function rankOf(kind: string): number {
  const first = FIRST.indexOf(kind)
  if (first >= 0) return first
  const last = LAST.indexOf(kind)
  return FIRST.length + 1 + last
}

/** Groups of the same rank, in the order in which they are applied. */
export function inOrder<T>(list: readonly T[], kindOf: (item: T) => string): T[][] {
  const groups = Map.groupBy(list, (item) => rankOf(kindOf(item)))
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}
