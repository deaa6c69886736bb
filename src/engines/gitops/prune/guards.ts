import type { AnyObject } from '../../../api/index.ts'
import { Failure, isRecord } from '../../../std/index.ts'
import { type ObjectId, sayIds } from '../../apply/index.ts'
import type { Held } from '../inventory/inventory.ts'
import { kindKey, kindsDeclaredBy } from '../objects/topological-order.ts'
import { takesAlong } from './followers.ts'
import { foreignObjectsIn, foreignObjectsUnder, type Searching } from './foreign-objects.ts'
import type { PruneCandidate } from './look.ts'

/** From when on a deletion waits until somebody has confirmed it. */
export interface Guards {
  /** More objects than this at once wait. */
  maxObjects: number
  /** More than this share of what is held waits, in percent; from FEW objects on. */
  maxPercent: number
  /** Whether a path that describes no object any more deletes everything. */
  allowEmpty: boolean
}

export const GUARDS: Guards = { maxObjects: 100, maxPercent: 50, allowEmpty: false }

/** Of three objects, two are soon gone: a share means something only of more than a few. */
const FEW = 10

type GuardReason =
  | 'NothingRendered'
  | 'PruneTooMany'
  | 'NamespaceInUse'
  | 'DefinitionInUse'
  | 'ProtectedKind'
  | 'ConfirmationNeeded'

/** Why something is not deleted for now. */
export interface PruneBlock {
  readonly reason: GuardReason
  /** The rest of a sentence about the object, or about all of them. */
  readonly why: string
}

export interface Situation {
  /** Objects that would be deleted now. */
  leaving: number
  /** Objects that are held in all. */
  held: number
  /** Objects that the repository describes. */
  rendered: number
}

/** Says why all deletions of a sync are blocked at once. Pure. */
export function blockOnAll({ leaving, held, rendered }: Situation, guards: Guards): PruneBlock | undefined {
  if (leaving === 0) return undefined
  if (rendered === 0 && !guards.allowEmpty)
    return {
      reason: 'NothingRendered',
      why: `stays: the path describes no object any more, and all ${held} that are there would be deleted. Correct the path, allow it by pruneGuard.allowEmpty, or confirm it`,
    }
  if (leaving > guards.maxObjects)
    return {
      reason: 'PruneTooMany',
      why: `stays: ${leaving} objects would be deleted at once, more than ${guards.maxObjects} (pruneGuard.maxObjects). Restore the files, raise the limit, or confirm it`,
    }
  if (rendered > 0 && held >= FEW && leaving * 100 > held * guards.maxPercent)
    return {
      reason: 'PruneTooMany',
      why: `stays: ${leaving} of ${held} objects would be deleted at once, more than ${guards.maxPercent} % (pruneGuard.maxPercent). Restore the files, raise the limit, or confirm it`,
    }
  return undefined
}

/** Facts about one object that would be deleted. */
export interface DeletionFacts {
  kind: string
  /** It is annotated so that its deletion is to be confirmed. */
  asksFirst?: boolean
  /** Objects of others that would be lost with it: `ConfigMap x/y`; or that nobody may look. */
  foreignObjects?: string | undefined
  /** Its data that cannot be made again from the repository. */
  data?: string | undefined
  /** Another program that follows it would delete what it has applied. */
  followed?: boolean
}

/** Says why the deletion of one object is blocked. Pure. */
export function blockOn({ kind, asksFirst, foreignObjects, data, followed }: DeletionFacts): PruneBlock | undefined {
  if (foreignObjects !== undefined)
    return {
      reason: kind === 'Namespace' ? 'NamespaceInUse' : 'DefinitionInUse',
      why: `stays, for it would take more along than what this sync deletes: ${foreignObjects}. Let that be moved away, or confirm it`,
    }
  if (data !== undefined)
    return {
      reason: 'ProtectedKind',
      why: `stays, for ${data}, which no repository brings back. Save what is needed, then confirm it`,
    }
  if (followed)
    return {
      reason: 'ProtectedKind',
      why: 'stays, for the program that follows it would delete all that it has applied. Have that let go of it first (docs/gitops.md, From Argo CD or Flux), or confirm it',
    }
  if (asksFirst) return { reason: 'ConfirmationNeeded', why: 'stays until it is confirmed, as its annotation demands' }
  return undefined
}

export const failureOf = ({ reason, why }: PruneBlock): Failure => new Failure('invalid', why, { reason })

export interface Judging extends Searching {
  /** Objects of this sync that are to stay, or stay because they ask to. */
  staying: readonly ObjectId[]
  /** Somebody has confirmed that this commit deletes. */
  confirmed: boolean
  /** Whether data, and what other programs have applied, is to be spared: not where the deployment itself is deleted by a policy that says so. */
  protectsData: boolean
}

/** Whether one object may go that is there and ours. What would take objects of this very sync along never may. */
export async function judge({ id }: Held, candidate: PruneCandidate, judging: Judging): Promise<PruneBlock | undefined> {
  if (candidate.state !== 'present') return undefined
  const { kind } = id
  const members = membersOf(id, candidate.object)
  const own = members && judging.staying.filter(members)
  if (own && own.length > 0)
    return blockOn({ kind, foreignObjects: `${sayIds(own, 3)}, which ${own.length === 1 ? 'is' : 'are'} to stay` })
  if (judging.confirmed) return undefined
  const finding: DeletionFacts = {
    kind,
    asksFirst: candidate.asksFirst,
    data: judging.protectsData ? dataOf(candidate.object) : undefined,
    foreignObjects: await foreignObjectsOf(id, candidate.object, judging),
    followed: judging.protectsData && candidate.object !== undefined && takesAlong(candidate.object),
  }
  return blockOn(finding)
}

export const isNamespace = ({ group, kind }: ObjectId): boolean => group === '' && kind === 'Namespace'

/** These go with the object when it goes: the content of a namespace, the resources of a definition. */
function membersOf(id: ObjectId, object: AnyObject | undefined): ((other: ObjectId) => boolean) | undefined {
  if (isNamespace(id)) return ({ namespace }) => namespace === id.name
  if (!object) return undefined
  const kinds = kindsDeclaredBy({ object })
  return kinds.length > 0 ? (other) => kinds.includes(kindKey(other)) : undefined
}

async function foreignObjectsOf(id: ObjectId, object: AnyObject | undefined, judging: Judging): Promise<string | undefined> {
  if (isNamespace(id)) return foreignObjectsIn(id.name, judging)
  return object && kindsDeclaredBy({ object }).length > 0 ? foreignObjectsUnder(object, judging) : undefined
}

/** A claim without a volume, and a volume without content, hold nothing. */
function dataOf(object: AnyObject | undefined): string | undefined {
  if (!object || !isRecord(object.status)) return undefined
  const { kind, status } = object
  const { phase, readyToUse } = status
  if (kind === 'PersistentVolumeClaim' && phase === 'Bound') return 'it is bound to a volume with data'
  if (kind === 'PersistentVolume' && (phase === 'Bound' || phase === 'Released')) return 'it is a volume with data'
  if ((kind === 'VolumeSnapshot' || kind === 'VolumeSnapshotContent') && readyToUse === true) return 'it is a snapshot of data'
  return undefined
}

export const keysOf = (held: readonly Held[]): Set<string> => new Set(held.map(({ key }) => key))
