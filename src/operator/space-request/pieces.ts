import { isDeepStrictEqual } from 'node:util'
import { type Cache, type Caches, isNamespaceTerminating, type Kube } from '../../adapters/kube/index.ts'
import {
  type Kind,
  type KubeObject,
  keyOf,
  LimitRanges,
  labels,
  NetworkPolicies,
  nameOf,
  ResourceQuotas,
  RoleBindings,
  Roles,
  refOf,
  ServiceAccounts,
} from '../../api/index.ts'
import type { Workshop } from '../../engines/controller/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { type Canonical, createCanonical } from './canonical.ts'
import { type NameRole, type Piece, piecesOf, type Space } from './desired.ts'
import type { Entry } from './entry.ts'
import { settleAll } from './settle-all.ts'

export const MANAGER = 'space-request'

/** The kinds that a tier can put into a namespace; of service accounts nothing but their presence matters. */
export const PIECE_KINDS: { kind: Kind; metadataOnly: boolean }[] = [
  { kind: ResourceQuotas, metadataOnly: false },
  { kind: LimitRanges, metadataOnly: false },
  { kind: NetworkPolicies, metadataOnly: false },
  { kind: Roles, metadataOnly: false },
  { kind: RoleBindings, metadataOnly: false },
  { kind: ServiceAccounts, metadataOnly: true },
]

/** What a watch and a cache of these kinds look at: the objects of all spaces, wherever they are. */
export const OF_SPACES = { labels: labels.spaceRequestUid, everywhere: true } as const

/** The objects in the namespaces: made where they are missing, put back where they were changed, removed where the tier dropped them. */
export interface Pieces {
  /** Makes sure that we may work in the namespace. `keep` does it, too. */
  enter(space: Space): Promise<void>
  keep(space: Space): Promise<void>
}

interface Shelf {
  kind: Kind
  cache: Cache<KubeObject>
}

export function createPieces(
  { events }: Pick<Workshop, 'events'>,
  kube: Kube,
  caches: Caches,
  { nameRole = (role) => role, entry }: { nameRole?: NameRole; entry?: Entry } = {},
): Pieces {
  const shelves: Shelf[] = PIECE_KINDS.map(({ kind, metadataOnly }) => ({
    kind,
    cache: caches.of(kind, { ...OF_SPACES, ...(metadataOnly && { metadataOnly }) }),
  }))
  const canonical = createCanonical(kube, MANAGER)
  const keepPiece = (space: Space, piece: Piece) => ensure({ kube, events }, shelves, canonical, space, piece)
  /** What lets us in comes first. Who has the space may take it away, and shuts nobody out but for a moment. */
  const enter = async (space: Space): Promise<Piece[]> => {
    // What is not seen may be there, and need no making.
    caches.requireWhole(space.namespace)
    const key = await entry?.bindingFor(space)
    if (!key) return []
    const isNew = !shelves.some(({ kind, cache }) => kind === key.kind && cache.get(refOf(key.object)))
    await keepPiece(space, key)
    if (isNew) await entry?.untilHeld(space.namespace)
    return [key]
  }
  return {
    async enter(space) {
      await enter(space)
    },
    async keep(space) {
      const keys = await enter(space)
      const wanted = piecesOf(space, nameRole)
      await settleAll(wanted.map((piece) => keepPiece(space, piece)))
      await settleAll(leftOver(shelves, space, [...keys, ...wanted]).map((piece) => remove(kube, piece)))
    },
  }
}

async function ensure(
  { kube, events }: Pick<Workshop, 'kube' | 'events'>,
  shelves: Shelf[],
  canonical: Canonical,
  space: Space,
  { kind, object }: Piece,
): Promise<void> {
  const there = shelves.find((shelf) => shelf.kind === kind)?.cache.get(refOf(object))
  if (!there) return make(kube, canonical, { kind, object })
  if (await isAsWanted(canonical, kind, object, there)) return
  await kube.patch(kind, refOf(object), repairOf(object), { manager: MANAGER })
  events.record(space.request, {
    type: 'Normal',
    reason: 'Repaired',
    message: `${nameOf(object)} differed from SpaceTier ${space.request.spec.tierName} and was put back`,
  })
}

/** A plain create costs the API server half of what an apply does, and nearly always nothing is there yet. */
async function make(kube: Kube, canonical: Canonical, { kind, object }: Piece): Promise<void> {
  try {
    canonical.learn(kind, object, await kube.create(kind, object, { manager: MANAGER }))
  } catch (failure) {
    // There, but without our label: the label brings it into our sight, and what else differs is then put back.
    if (!isFailure(failure, 'already-exists')) throw explained(kind, failure)
    await kube.apply(kind, object, { manager: MANAGER, force: true })
  }
}

/** RBAC refuses to give away more than the giver has; who reads that in a condition should know where to turn. */
function explained(kind: Kind, failure: unknown): unknown {
  if (kind !== RoleBindings || !isFailure(failure, 'forbidden') || isNamespaceTerminating(failure)) return failure
  return new Failure('forbidden', failure.message, {
    reason: 'UnableToProvision',
    remedy:
      'Let the tier name another ClusterRole, or allow the operator to bind this one: ClusterRole berth-space-keeper, verb bind',
    cause: failure,
  })
}

async function isAsWanted(canonical: Canonical, kind: Kind, wanted: KubeObject, there: KubeObject): Promise<boolean> {
  const has = there.metadata.labels ?? {}
  if (Object.entries(wanted.metadata.labels ?? {}).some(([key, value]) => has[key] !== value)) return false
  const body = bodyOf(wanted)
  if (Object.keys(body).length === 0) return true
  const found = Object.fromEntries(Object.entries(bodyOf(there)).filter(([key]) => key in body))
  return isDeepStrictEqual(found, body) || isDeepStrictEqual(found, bodyOf(await canonical.of(kind, wanted)))
}

/** Whole fields are replaced, so that nothing of what somebody added inside of them stays. */
function repairOf(wanted: KubeObject) {
  const marks = Object.entries(wanted.metadata.labels ?? {}).map(([key, value]) => ({
    op: 'add' as const,
    path: `/metadata/labels/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    value,
  }))
  const body = Object.entries(bodyOf(wanted)).map(([key, value]) => ({ op: 'add' as const, path: `/${key}`, value }))
  return [...marks, ...body]
}

/** All but the envelope and what the cluster writes. */
function bodyOf(object: KubeObject): Record<string, unknown> {
  const envelope = ['apiVersion', 'kind', 'metadata', 'status']
  return Object.fromEntries(Object.entries(object).filter(([key]) => !envelope.includes(key)))
}

function leftOver(shelves: Shelf[], { request, namespace }: Space, wanted: Piece[]): Piece[] {
  const kept = new Set(wanted.map(({ kind, object }) => `${kind.plural} ${keyOf(refOf(object))}`))
  return shelves.flatMap(({ kind, cache }) =>
    cache
      .in(namespace)
      .filter((object) => object.metadata.labels?.[labels.spaceRequestUid] === request.metadata.uid)
      .filter((object) => !kept.has(`${kind.plural} ${keyOf(refOf(object))}`))
      .map((object) => ({ kind, object })),
  )
}

async function remove(kube: Kube, { kind, object }: Piece): Promise<void> {
  await kube.delete(kind, refOf(object), { uid: object.metadata.uid })
}
