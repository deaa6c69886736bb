import type { Caches } from '../../adapters/kube/index.ts'
import {
  indexBy,
  keyOf,
  labels,
  type Namespace,
  Namespaces,
  type Ref,
  refFromKey,
  refOf,
  type SpaceRequest,
  SpaceRequests,
  type SpaceTier,
} from '../../api/index.ts'
import type { Failure } from '../../std/index.ts'
import { unableToProvision } from './failures.ts'
import { requestUidOf, uidOf } from './namespace.ts'
import { OF_SPACES } from './pieces.ts'

export type SpaceAllowance = ReturnType<typeof createAllowance>

/** Those of one tier that wait in one namespace, by key, in the order in which they came. */
interface WaitingLine {
  most: number
  keys: Set<string>
}

/** How many spaces a namespace gets: as many as the tier of the next one allows, whatever tiers the others are of. */
export function createAllowance(caches: Caches) {
  const requests = caches.of(SpaceRequests)
  const spaces = caches.of(Namespaces, { ...OF_SPACES, metadataOnly: true })
  /** Places given a moment ago, by namespace and uid. */
  const given = new Map<string, Map<string, Ref>>()
  /** By namespace and tier. */
  const lines = new Map<string, Map<string, WaitingLine>>()

  /**
   * The uids of those that have a place. Only what tenants cannot write says so: what was made for a request, and its status. A
   * finalizer would not.
   */
  function holdersIn(namespace: string): Set<string> {
    const uids = new Set([
      ...requests.by(byHome, namespace).map(uidOf),
      ...spaces.by(byRequestNamespace, namespace).map(requestUidOf),
    ])
    const fresh = given.get(namespace)
    for (const [uid, ref] of fresh ?? []) {
      if (uids.has(uid) || requests.get(ref)?.metadata.uid !== uid) fresh?.delete(uid)
      else uids.add(uid)
    }
    if (fresh?.size === 0) given.delete(namespace)
    return uids
  }

  /** Says whether the request has a place now: its own, or one that was free. */
  function takePlace(request: SpaceRequest, most: number): boolean {
    const namespace = homeOf(request)
    const holders = holdersIn(namespace)
    if (holders.has(uidOf(request))) return true
    if (holders.size >= most) return false
    given.set(namespace, (given.get(namespace) ?? new Map()).set(uidOf(request), refOf(request)))
    return true
  }

  /** From the lines of all tiers but this one. */
  function leave(request: SpaceRequest, tier?: string): void {
    const ofNamespace = lines.get(homeOf(request)) ?? new Map<string, WaitingLine>()
    for (const [name, { keys }] of ofNamespace) {
      if (name !== tier) keys.delete(keyOf(refOf(request)))
      if (keys.size === 0) ofNamespace.delete(name)
    }
    if (ofNamespace.size === 0) lines.delete(homeOf(request))
  }

  return {
    /** Takes a place for the request, or says why there is none; the request waits for one then, and keeps the one that it has. */
    reserve(request: SpaceRequest, { metadata, spec }: SpaceTier): Failure | undefined {
      const { name: tier } = metadata
      const { spacesPerNamespaceQuota: most = -1 } = spec
      if (most < 0 || takePlace(request, most)) {
        leave(request)
        return undefined
      }
      leave(request, tier)
      const namespace = homeOf(request)
      const ofNamespace = lines.get(namespace) ?? new Map<string, WaitingLine>()
      const keys = ofNamespace.get(tier)?.keys ?? new Set()
      lines.set(namespace, ofNamespace.set(tier, { most, keys: keys.add(keyOf(refOf(request))) }))
      return refusal(namespace, tier, most)
    },
    /** The request waits no longer. */
    withdraw: (request: SpaceRequest): void => leave(request),
    /** After a change of a request: those of its namespace that waited longest, as many as there are places. */
    wokenBy(request: SpaceRequest): Ref[] {
      const namespace = homeOf(request)
      if (!requests.get(refOf(request))) leave(request)
      const ofNamespace = lines.get(namespace)
      if (!ofNamespace) return []
      const { size } = holdersIn(namespace)
      return [...ofNamespace.values()].flatMap(({ most, keys }) =>
        most > size ? [...keys].slice(0, most - size).map(refFromKey) : [],
      )
    },
  }
}

/** Of requests with access to a space: by their namespace. */
const byHome = indexBy((request: SpaceRequest) => (request.status?.namespaceAccess?.[0] ? [homeOf(request)] : []))
/** Of spaces: by the namespace of the request. */
const byRequestNamespace = indexBy(({ metadata }: Namespace) => [metadata.labels?.[labels.spaceRequestNamespace] ?? ''])
const homeOf = ({ metadata }: SpaceRequest): string => metadata.namespace ?? ''

const refusal = (namespace: string, tier: string, most: number): Failure =>
  unableToProvision(
    `namespace ${namespace} has the ${most === 1 ? 'one space' : `${most} spaces`} that SpaceTier ${tier} allows it (spacesPerNamespaceQuota)`,
    'Delete a claim, workspace or SpaceRequest that nobody needs, or have the quota raised; this one goes on by itself then',
  )
