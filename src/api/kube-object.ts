/** The envelope that every Kubernetes object wears; the generated types fill in `spec` and `status`. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ObjectMeta {
  name: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
}

export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

export interface CustomObject<Spec, Status> extends KubeObject {
  spec: Spec
  status?: Status
}

/** An object of whose inside nothing is known. */
export interface AnyObject extends KubeObject {
  [field: string]: unknown
}

/** The place of a kind's objects in the API. `T` is the type of the objects; it exists for the compiler only. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly example?: T
}

/** Names the kinds of a group, each by itself and its plural. */
export const kindsOf =
  (group: string, version: string) =>
  <T extends KubeObject>(kind: string, plural: string, namespaced = true): Kind<T> => ({
    group,
    version,
    kind,
    plural,
    namespaced,
  })

export const apiVersionOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group ? `${group}/${version}` : version

/** That of an `apiVersion`; empty for the core of Kubernetes. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''

/** With these two fields an object of the kind begins. */
export const typeMetaOf = (kind: Kind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind })

/** Name, and namespace where the kind has one. */
export interface Ref {
  readonly name: string
  readonly namespace?: string | undefined
}

export const refOf = (object: KubeObject): Ref => ({
  name: object.metadata.name,
  namespace: object.metadata.namespace,
})

/** `namespace/name`, or `name` for what is cluster-scoped: the key of queues and caches. */
export const keyOf = ({ name, namespace }: Ref): string => (namespace ? `${namespace}/${name}` : name)

export function refFromKey(key: string): Ref {
  const [first = '', second] = key.split('/')
  return second === undefined ? { name: first } : { namespace: first, name: second }
}

/** How an object is named in messages: `DeploymentTargetClaim team-a/dev`. */
export const nameOf = (object: KubeObject): string => `${object.kind} ${keyOf(refOf(object))}`

/** The one that was there first comes first; the same answer whoever asks. */
export const byAge = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number =>
  compare(a.creationTimestamp ?? '', b.creationTimestamp ?? '') || compare(a.uid ?? '', b.uid ?? '')

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined

export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false

/** The merge patch that adds a finalizer. It meets a conflict when somebody else wrote meanwhile: lists are written whole. */
export const withFinalizer = ({ metadata }: KubeObject, finalizer: string) => ({
  metadata: {
    resourceVersion: metadata.resourceVersion,
    finalizers: [...new Set([...(metadata.finalizers ?? []), finalizer])],
  },
})

/** The merge patch that takes a finalizer off. It meets a conflict when somebody else wrote meanwhile. */
export const withoutFinalizer = ({ metadata }: KubeObject, finalizer: string) => ({
  metadata: {
    resourceVersion: metadata.resourceVersion,
    finalizers: (metadata.finalizers ?? []).filter((name) => name !== finalizer),
  },
})

/** Of this very owner, and not of one that had its name before. */
export const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)

/** A controller reference: garbage collection removes the dependent after the owner. */
export const ownedBy = (owner: KubeObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: false,
})
