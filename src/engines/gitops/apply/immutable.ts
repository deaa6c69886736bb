import { causesOf } from '../../../adapters/kube/index.ts'
import { Failure, isFailure } from '../../../std/index.ts'
import { PREFIX } from '../objects/annotations.ts'

export const IMMUTABLE = 'ImmutableField'

/** The words of the API server's validations, and of rules in CRDs. */
const WORDS =
  /\bimmutable\b|may not (be )?change|cannot (be )?changed?\b|updates to (?:\S+ ){1,3}(are |for fields other )|forbidden after creation/i
/** Under these reasons validations say so; anything else is about the value itself. */
const REASONS = ['FieldValueInvalid', 'FieldValueForbidden']

/**
 * The fields that the server will not change, if that is what it said. Only a 422 with such causes proves it: taking any
 * refusal for this would delete objects over a typing error.
 */
export function immutableFieldsIn(thrown: unknown): string[] | undefined {
  if (!isFailure(thrown, 'invalid') || thrown.reason !== 'Invalid') return undefined
  const proofs = causesOf(thrown).filter(({ reason, message }) => REASONS.includes(reason) && WORDS.test(ruleIn(message)))
  return proofs.length > 0 ? [...new Set(proofs.map(({ field }) => field))] : undefined
}

/** `Invalid value: {…}: field is immutable`: the value comes from users and proves nothing. */
const ruleIn = (message: string): string => message.replace(/^Invalid value: ("(\\.|[^"\\])*"|\{.*\}|\[.*\]|[^:]*): /s, '')

export const immutable = (fields: readonly string[], cause: unknown, isNever: boolean): Failure =>
  new Failure('invalid', `${fields.join(', ')} cannot be changed once the object exists (immutable)`, {
    reason: IMMUTABLE,
    remedy: isNever
      ? 'Set the field back. It is never deleted to be made anew, for everything that belongs to it would go with it.'
      : `Annotate the manifest ${PREFIX}force: "true" to have the object deleted and made anew, or set the field back.`,
    cause: cause instanceof Failure ? cause.cause : cause,
  })
