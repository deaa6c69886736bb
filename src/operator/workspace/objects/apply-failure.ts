import { OBJECT_TAKEN } from '../../../engines/apply/index.ts'
import { Failure } from '../../../std/index.ts'

const FAILED = 'ApplyFailed'

/** Why a devfile's Kubernetes objects are not applied. */
export const MANIFEST_REASONS = {
  unknownKind: 'ManifestKindUnknown',
  elsewhere: 'ManifestElsewhere',
  notAllowed: 'OwnerNotAllowed',
  cannotAsk: 'OwnerRightsUnknown',
} as const

/** Why variables are not frozen. */
export const VARIABLE_REASONS = { missing: 'VariableNotFound', invalid: 'VariableInvalid', tooMuch: 'VariablesTooLarge' } as const

/** The reasons that mean: the objects could not be applied. */
const APPLY_REASONS: readonly string[] = [
  FAILED,
  OBJECT_TAKEN,
  ...Object.values(MANIFEST_REASONS),
  ...Object.values(VARIABLE_REASONS),
]

export const isApplyFailure = ({ reason = '' }: Failure): boolean => APPLY_REASONS.includes(reason)

/** Whatever the reason, the user should read that it happened in the target. */
export function asApplyFailure(thrown: unknown): Failure {
  const failure = Failure.from(thrown)
  if (isApplyFailure(failure) || failure.code === 'cancelled') return failure
  return new Failure(failure.code === 'internal' ? 'unavailable' : failure.code, `the target refused: ${failure.message}`, {
    reason: FAILED,
    remedy:
      failure.remedy ?? "Check the rights of the target's credentials, and the devfile against the target's policies and quotas.",
    cause: failure,
    ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
  })
}
