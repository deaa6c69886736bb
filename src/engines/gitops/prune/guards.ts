import { Failure } from '../../../std/index.ts'

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

export type GuardReason =
  | 'NothingRendered'
  | 'PruneTooMany'
  | 'NamespaceInUse'
  | 'DefinitionInUse'
  | 'ProtectedKind'
  | 'ConfirmationNeeded'

/** Why something is not deleted for now. */
export interface Hold {
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

/** Says why all deletions of a sync are held back at once. Pure. */
export function holdOnAll({ leaving, held, rendered }: Situation, guards: Guards): Hold | undefined {
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
export interface Finding {
  kind: string
  /** It is annotated so that its deletion is to be confirmed. */
  asksFirst?: boolean
  /** What would be lost with it and belongs to others: `ConfigMap x/y`, or that nobody may look. */
  strangers?: string | undefined
  /** What it holds that cannot be made again from the repository. */
  data?: string | undefined
}

/** Says why the deletion of one object is held back. Pure. */
export function holdOn({ kind, asksFirst, strangers, data }: Finding): Hold | undefined {
  if (strangers !== undefined)
    return {
      reason: kind === 'Namespace' ? 'NamespaceInUse' : 'DefinitionInUse',
      why: `stays, for it would take more along than what this sync deletes: ${strangers}. Let that be moved away, or confirm it`,
    }
  if (data !== undefined)
    return {
      reason: 'ProtectedKind',
      why: `stays, for ${data}, which no repository brings back. Save what is needed, then confirm it`,
    }
  if (asksFirst) return { reason: 'ConfirmationNeeded', why: 'stays until it is confirmed, as its annotation demands' }
  return undefined
}

export const failureOf = ({ reason, why }: Hold): Failure => new Failure('invalid', why, { reason })
