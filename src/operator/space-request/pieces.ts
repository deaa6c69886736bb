import { type Caches, isNamespaceTerminating, type Kube } from '../../adapters/kube/index.ts'
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
import { createCanonical, keepExactly, type Piece } from '../../engines/apply/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { piecesOf, type Space } from './desired.ts'
import type { NamespaceEntry } from './entry.ts'

export const MANAGER = 'space-request'

/** Watches and caches of these kinds look at the objects of all spaces, wherever they are. */
export const OF_SPACES = { labels: labels.spaceRequestUid, everywhere: true } as const

const PLAIN_KINDS: Kind[] = [ResourceQuotas, LimitRanges, NetworkPolicies, Roles, RoleBindings]

/** The kinds that a tier can put into a namespace; of service accounts nothing but their presence matters. */
export const PIECE_WATCHES = [
  ...PLAIN_KINDS.map((kind) => ({ kind, ...OF_SPACES })),
  { kind: ServiceAccounts, ...OF_SPACES, metadataOnly: true },
]

export type Pieces = ReturnType<typeof createPieces>

/** The objects in the namespaces: made where they are missing, put back where they were changed, removed where the tier dropped them. */
export function createPieces(
  { events }: Pick<ControllerContext, 'events'>,
  kube: Kube,
  caches: Caches,
  { hasBerth, entry }: { hasBerth: () => Promise<boolean>; entry?: NamespaceEntry },
) {
  const watched = PIECE_WATCHES.map(({ kind, ...options }) => ({ kind, cache: caches.of<KubeObject>(kind, options) }))
  const by = { kube, canonical: createCanonical(kube, MANAGER), manager: MANAGER }
  const seen = ({ kind, object }: Piece) => watched.find((each) => each.kind === kind)?.cache.get(refOf(object))

  const keepPiece = async ({ request }: Space, piece: Piece): Promise<void> => {
    const isPutBack = await keepExactly(by, piece, seen(piece)).catch((failure: unknown) => {
      throw explained(piece.kind, failure)
    })
    if (!isPutBack) return
    const message = `${nameOf(piece.object)} differed from SpaceTier ${request.spec.tierName} and was put back`
    events.record(request, { type: 'Normal', reason: 'Repaired', message })
  }
  /** The binding that lets us in comes first. The owner of the space may take it away, and shuts nobody out but for a moment. */
  const enter = async (space: Space): Promise<Piece[]> => {
    // What is not seen may be there, and need no making.
    caches.requireWhole(space.namespace)
    const key = await entry?.bindingFor(space)
    if (!key) return []
    const isNew = !seen(key)
    await keepPiece(space, key)
    if (isNew) await entry?.untilHeld(space.namespace)
    return [key]
  }
  const leftOver = ({ request, namespace }: Space, wanted: readonly Piece[]): Piece[] => {
    const kept = new Set(wanted.map(keyOfPiece))
    const here = watched.flatMap(({ kind, cache }) => cache.in(namespace).map((object) => ({ kind, object })))
    const mine = here.filter(({ object }) => object.metadata.labels?.[labels.spaceRequestUid] === request.metadata.uid)
    return mine.filter((piece) => !kept.has(keyOfPiece(piece)))
  }
  return {
    /** Makes sure that we may work in the namespace. `keep` does it, too. */
    async enter(space: Space): Promise<void> {
      await enter(space)
    },
    async keep(space: Space): Promise<void> {
      const keys = await enter(space)
      const wanted = piecesOf(space, await hasBerth())
      await settleAll(wanted.map((piece) => keepPiece(space, piece)))
      const remove = ({ kind, object }: Piece) => kube.delete(kind, refOf(object), { uid: object.metadata.uid })
      await settleAll(leftOver(space, [...keys, ...wanted]).map(remove))
    },
  }
}

const keyOfPiece = ({ kind, object }: Piece): string => `${kind.plural} ${keyOf(refOf(object))}`

/** Waits until all have ended, then fails with the first failure: nothing goes on writing behind the back of the next try. */
async function settleAll(work: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason
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
