import { createHash } from 'node:crypto'
import type { Kube } from '../../adapters/kube/index.ts'
import type { AnyObject } from '../../api/index.ts'
import { Failure, isFailure, isRecord } from '../../std/index.ts'
import { unknownWish } from './annotations.ts'
import type { Entry } from './change-set.ts'
import { type Limits, trespass } from './limits.ts'
import type { Manifest } from './manifest.ts'
import { normalized } from './normalize.ts'
import { idOf, keyOfId, type ObjectId, sayId } from './object-id.ts'

/** In whose name objects are kept. */
export interface Owner {
  /** Fit for a label value, and never used again: a UID. */
  id: string
  /** For people: `GitOpsDeployment team-a/shop`. */
  title: string
}

export const OWNER_LABEL = 'gitops.berth.dev/sync'
export const OWNER_ANNOTATION = 'gitops.berth.dev/owner'

/** One field manager for each sync: with one for all, the server could not tell two syncs that want the same object apart. */
export const managerOf = (owner: string): string => `berth-gitops-${owner}`.slice(0, 128)

export interface Destination extends Limits {
  /** The target, as the tenant. Nothing is read or written in another way. */
  kube: Kube
  /** For objects that name no namespace. */
  namespace: string | undefined
}

/** An object as it is to be in the cluster. */
export interface Desired {
  readonly id: ObjectId
  readonly version: string
  readonly object: AnyObject
  readonly source: string
  /** Of the object as it is sent. */
  readonly hash: string
}

/**
 * Gives every object its namespace and our mark. What may not be there is an entry with the reason; the others go on.
 * `placed` remembers, for one destination and owner, what became of which object: a commit changes few of them.
 */
export async function place(
  manifests: readonly Manifest[],
  to: Destination,
  owner: Owner,
  placed: WeakMap<AnyObject, Desired> = new WeakMap(),
): Promise<{ desired: Desired[]; refused: Entry[] }> {
  const desired = new Map<string, Desired>()
  const refused: Entry[] = []
  const scopeOf = scopesIn(to.kube, manifests)
  for (const { object, source } of manifests) {
    const scope = await scopeOf(object)
    const make = () => desiredOf(withNamespace(normalized(object), scope.namespaced, to.namespace), source, owner)
    const before = placed.get(object)
    // The same text in two files is one object to the reader.
    const item = before?.source === source ? before : make()
    const key = keyOfId(item.id)
    const twin = desired.get(key)
    if (twin) throw twice(item, twin)
    const why = scope.problem ?? objection(item.object, scope.namespaced === true, to) ?? unknownWish(object)
    if (why === undefined) {
      desired.set(key, item)
      placed.set(object, item)
    } else refused.push({ id: item.id, change: scope.isOnItsWay ? 'waiting' : 'failed', why, source })
  }
  return { desired: [...desired.values()], refused }
}

function desiredOf(placed: AnyObject, source: string, owner: Owner): Desired {
  const { metadata } = placed
  const object: AnyObject = {
    ...placed,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [OWNER_LABEL]: owner.id },
      annotations: { ...metadata.annotations, [OWNER_ANNOTATION]: owner.title },
    },
  }
  return {
    id: idOf(object),
    version: object.apiVersion.slice(object.apiVersion.indexOf('/') + 1),
    object,
    source,
    hash: hashOf(object),
  }
}

function withNamespace(object: AnyObject, namespaced: boolean | undefined, fallback: string | undefined): AnyObject {
  const { namespace, ...metadata } = object.metadata
  const own = namespaced === false ? undefined : namespace || fallback
  return { ...object, metadata: { ...metadata, ...(own && { namespace: own }) } }
}

function objection(object: AnyObject, namespaced: boolean, to: Destination): string | undefined {
  if (namespaced && object.metadata.namespace === undefined)
    return 'names no namespace, and the destination gives none; set metadata.namespace or spec.destination.namespace'
  return trespass(object, namespaced, to)
}

/** Where objects of a kind live, or why that cannot be said. */
interface Scope {
  namespaced?: boolean
  problem?: string
  /** What serves the kind comes with the same commit. */
  isOnItsWay?: boolean
}

function scopesIn(kube: Kube, manifests: readonly Manifest[]): (object: AnyObject) => Promise<Scope> {
  const declared = declaredScopes(manifests)
  const announced = new Set(manifests.flatMap(({ object }) => announcedBy(object)))
  const mute = new Map<string, Scope>()
  return async (object) => {
    const { group, kind } = idOf(object)
    const { apiVersion } = object
    const own = declared.get(`${group}/${kind}`)
    if (own !== undefined) return { namespaced: own }
    const known = mute.get(apiVersion)
    if (known) return known
    const isOnItsWay = announced.has(apiVersion)
    try {
      const namespaced = (await kube.resolve(apiVersion, kind))?.namespaced
      return namespaced === undefined ? { problem: unknownKind(object, isOnItsWay), isOnItsWay } : { namespaced }
    } catch (failure) {
      if (!isMute(failure)) throw failure
      const scope = { problem: `${apiVersion} is not served for now: ${failure.message}`, isOnItsWay }
      mute.set(apiVersion, scope)
      return scope
    }
  }
}

/** The server answers, and what stands behind this one group does not: that is no reason to leave the others. */
const isMute = (failure: unknown): failure is Failure =>
  isFailure(failure, 'unavailable', 'timeout') && !(failure.cause instanceof Error)

/** A CRD of the same commit says where its objects live before the server can. */
function declaredScopes(manifests: readonly Manifest[]): Map<string, boolean> {
  const scopes = new Map<string, boolean>()
  for (const { object } of manifests) {
    const { spec } = object
    if (object.kind !== 'CustomResourceDefinition' || !isRecord(spec) || !isRecord(spec.names)) continue
    scopes.set(`${String(spec.group)}/${String(spec.names.kind)}`, spec.scope !== 'Cluster')
  }
  return scopes
}

/** An APIService of the same commit serves its kinds when what it calls is up. */
const announcedBy = ({ apiVersion, kind, spec }: AnyObject): string[] =>
  kind === 'APIService' && apiVersion.startsWith('apiregistration.k8s.io/') && isRecord(spec)
    ? [`${String(spec.group)}/${String(spec.version)}`]
    : []

const unknownKind = ({ apiVersion, kind }: AnyObject, isOnItsWay: boolean): string =>
  isOnItsWay
    ? `${apiVersion} is not served yet; its APIService stands in the same commit`
    : `the destination serves no kind ${kind} in ${apiVersion}; correct apiVersion, or install its CustomResourceDefinition`

const twice = (item: Desired, twin: Desired): Failure =>
  new Failure('invalid', `${sayId(item.id)} stands in ${twin.source} and again in ${item.source}`, {
    reason: 'DuplicateObject',
    remedy: 'Keep one of them.',
  })

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortedKeys)).digest('hex').slice(0, 32)
}

const sortedKeys = (_: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
