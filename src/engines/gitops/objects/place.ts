import { createHash, X509Certificate } from 'node:crypto'
import type { Kube } from '../../../adapters/kube/index.ts'
import { type AnyObject, groupOf } from '../../../api/index.ts'
import { Failure, isFailure, isRecord } from '../../../std/index.ts'
import { idOf, keyOfId, type ObjectId, sayId } from '../../apply/index.ts'
import type { Manifest } from '../../render/index.ts'
import { unknownWish, waveOf } from './annotations.ts'
import type { Entry } from './change-set.ts'
import { formed } from './form.ts'
import { type Hook, hookOf, notRun } from './hooks.ts'
import { type Limits, trespass } from './limits.ts'

/** In whose name objects are kept. */
export interface Owner {
  /** Fit for a label value, and never used again: a UID. */
  id: string
  /** For people: `GitOpsDeployment team-a/shop`. */
  title: string
  /** Its objects carry them beside our label, because other programs look for them. */
  annotations?: Readonly<Record<string, string>>
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
  /** Of its id. */
  readonly key: string
  readonly version: string
  readonly object: AnyObject
  readonly source: string
  /** Of the object as it is sent. */
  readonly hash: string
}

interface Placed {
  desired: Desired[]
  byKey: ReadonlyMap<string, Desired>
  refused: Entry[]
  /** Hooks that Berth does not run: they are not applied at all, for that would be at the wrong time. */
  leftOut: Entry[]
  /** By key, of all of them: in which wave an object is, where it is not wave 0. */
  waves: ReadonlyMap<string, number>
  /** By key, of `desired`. */
  hooks: ReadonlyMap<string, Hook>
}

/**
 * Gives every object its namespace and our label. An object that may not be there is an entry with the reason; the others go on.
 * `placed` remembers, for one destination and owner, what became of which object: a commit changes few of them.
 */
export async function place(
  manifests: readonly Manifest[],
  to: Destination,
  owner: Owner,
  placed: WeakMap<AnyObject, Desired> = new WeakMap(),
): Promise<Placed> {
  const byKey = new Map<string, Desired>()
  const waves = new Map<string, number>()
  const hooks = new Map<string, Hook>()
  const refused: Entry[] = []
  const leftOut: Entry[] = []
  const scopes = scopesIn(to.kube, manifests)
  for (const { object: written, source, problem } of manifests) {
    // The same text in two files is one object to the reader.
    const before = placed.get(written)?.source === source ? placed.get(written) : undefined
    const form = before ? undefined : { ...formed(written), ...(problem !== undefined && { problem }) }
    const object = form?.object ?? written
    const scope: Scope = form?.problem === undefined ? (scopes.known(object) ?? (await scopes.find(object))) : form
    const isAsBefore = before !== undefined && scope.namespaced === (before.id.namespace !== undefined)
    const placing = () => withNamespace(normalized((form ?? formed(written)).object), scope.namespaced, to.namespace)
    const item = isAsBefore ? before : desiredOf(placing(), source, owner)
    const twin = byKey.get(item.key)
    if (twin && form?.problem === undefined) throw twice(item, twin)
    const wave = waveOf(item.object)
    if (wave !== 0) waves.set(item.key, wave)
    // An object that was placed under the same limits may be there.
    const why = isAsBefore
      ? undefined
      : (scope.problem ??
        objection(item.object, scope.namespaced === true, to) ??
        unknownWish(item.object) ??
        nameless(written, item.object))
    const strange = notRun(item.object)
    if (why === undefined && strange !== undefined) leftOut.push(hookLeftOut(item, strange))
    else if (why === undefined) {
      byKey.set(item.key, item)
      const hook = hookOf(item.object)
      if (hook) hooks.set(item.key, hook)
      if (!isAsBefore) placed.set(written, item)
    } else refused.push({ id: item.id, change: scope.isOnItsWay ? 'waiting' : 'failed', why, source })
  }
  return { desired: [...byKey.values()], byKey, refused, leftOut, waves, hooks }
}

function desiredOf(placed: AnyObject, source: string, owner: Owner): Desired {
  const { metadata } = placed
  const object: AnyObject = {
    ...placed,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [OWNER_LABEL]: owner.id },
      annotations: { ...metadata.annotations, ...owner.annotations, [OWNER_ANNOTATION]: owner.title },
    },
  }
  const id = idOf(object)
  return {
    id,
    key: keyOfId(id),
    version: object.apiVersion.slice(object.apiVersion.indexOf('/') + 1),
    object,
    source,
    hash: hashOf(object),
  }
}

function withNamespace(object: AnyObject, namespaced: boolean | undefined, fallback: string | undefined): AnyObject {
  const { namespace, generateName: _, ...metadata } = object.metadata
  const own = namespaced === false ? undefined : namespace || fallback
  return { ...object, metadata: { ...metadata, ...(own && { namespace: own }) } }
}

const hookLeftOut = ({ id, source }: Desired, why: string): Entry => ({
  id,
  source,
  change: 'skipped',
  why,
  failure: new Failure('invalid', why, { reason: 'HookNotRun' }),
})

/** A name that is made of `generateName` is for what runs. */
const nameless = ({ metadata: { generateName } }: AnyObject, object: AnyObject): string | undefined =>
  generateName === undefined || hookOf(object) || notRun(object) !== undefined
    ? undefined
    : 'has generateName, which makes another object each time; give it a name, or make it a hook'

function objection(object: AnyObject, namespaced: boolean, to: Destination): string | undefined {
  if (namespaced && object.metadata.namespace === undefined)
    return 'names no namespace, and the destination gives none; set metadata.namespace or spec.destination.namespace'
  return trespass(object, namespaced, to)
}

/** Says whether objects of a kind live in namespaces, or why that is not known. */
interface Scope {
  namespaced?: boolean
  problem?: string
  /** An APIService of the same commit will serve the kind. */
  isOnItsWay?: boolean
}

type Served = Pick<AnyObject, 'apiVersion' | 'kind'>

function scopesIn(kube: Kube, manifests: readonly Manifest[]) {
  const declared = declaredScopes(manifests)
  const announced = announcedIn(manifests)
  const mute = new Map<string, Scope>()
  const found = new Map<string, Map<string, Scope>>()
  const ask = async ({ apiVersion, kind }: Served): Promise<Scope> => {
    const own = declared.get(`${groupOf(apiVersion)}/${kind}`)
    if (own !== undefined) return { namespaced: own }
    const known = mute.get(apiVersion)
    if (known) return known
    const isOnItsWay = announced.has(apiVersion)
    try {
      const namespaced = (await kube.resolve(apiVersion, kind))?.namespaced
      return namespaced === undefined ? { problem: unknownKind({ apiVersion, kind }, isOnItsWay), isOnItsWay } : { namespaced }
    } catch (failure) {
      if (!isMute(failure)) throw failure
      const scope = { problem: `${apiVersion} is not served for now: ${failure.message}`, isOnItsWay }
      mute.set(apiVersion, scope)
      return scope
    }
  }
  return {
    /** An answer that was found once holds for all objects of the kind. */
    known: ({ apiVersion, kind }: Served) => found.get(apiVersion)?.get(kind),
    async find(served: Served): Promise<Scope> {
      const scope = await ask(served)
      const kinds = found.get(served.apiVersion) ?? new Map<string, Scope>()
      found.set(served.apiVersion, kinds.set(served.kind, scope))
      return scope
    },
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
function announcedIn(manifests: readonly Manifest[]): Set<string> {
  const announced = new Set<string>()
  for (const { object } of manifests) {
    const { spec } = object
    if (object.kind !== 'APIService' || !object.apiVersion.startsWith('apiregistration.k8s.io/') || !isRecord(spec)) continue
    announced.add(`${String(spec.group)}/${String(spec.version)}`)
  }
  return announced
}

const unknownKind = ({ apiVersion, kind }: Served, isOnItsWay: boolean): string =>
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

/** Fields that would make the server refuse an object, or two programs write in turns, are left out of what is applied. */
function normalized(object: AnyObject): AnyObject {
  return NORMALIZERS[`${groupOf(object.apiVersion)}/${object.kind}`]?.(object) ?? object
}

const NORMALIZERS: Record<string, (object: AnyObject) => AnyObject> = {
  'apiextensions.k8s.io/CustomResourceDefinition': withoutBrokenBundle,
  'rbac.authorization.k8s.io/ClusterRole': withoutFilledRules,
  '/Service': withoutEmptyAddress,
}

/**
 * Tools that inject a CA later ship a placeholder; the server refuses the whole CRD for it.
 * https://github.com/fluxcd/pkg/blob/main/ssa/normalize (behaviour, not code)
 */
function withoutBrokenBundle(object: AnyObject): AnyObject {
  const { spec } = object
  if (!isRecord(spec) || !isRecord(spec.conversion)) return object
  const { conversion } = spec
  const { webhook } = conversion
  if (!isRecord(webhook) || !isRecord(webhook.clientConfig)) return object
  const { caBundle, ...clientConfig } = webhook.clientConfig
  if (caBundle === undefined || isBundle(caBundle)) return object
  return { ...object, spec: { ...spec, conversion: { ...conversion, webhook: { ...webhook, clientConfig } } } }
}

/** As the server checks it: base64 of PEM with at least one certificate that parses. */
function isBundle(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return new X509Certificate(Buffer.from(value, 'base64')).raw.length > 0
  } catch {
    return false
  }
}

/** The rules of an aggregated role are what a controller finds; ours would be thrown out again. */
function withoutFilledRules(object: AnyObject): AnyObject {
  if (!isRecord(object.aggregationRule)) return object
  const { rules: _, ...rest } = object
  return rest
}

/** An empty address means "you choose"; sent along, it would differ from the choice for ever. */
function withoutEmptyAddress(object: AnyObject): AnyObject {
  const { spec } = object
  if (!isRecord(spec) || spec.clusterIP !== '') return object
  const { clusterIP: _, ...rest } = spec
  return { ...object, spec: rest }
}
