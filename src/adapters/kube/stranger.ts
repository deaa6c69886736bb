import { isRecord } from '../../std/index.ts'
import { type ApiStatus, causesIn, failureFromStatus, isKnownReason, type Refuse, type StatusCause } from './errors.ts'

/** Fields at fault that are told; kubectl shows the rest. */
const MOST_FIELDS = 8
/** Names, indexes and values of a field's way. Longer ones could be anything, the caller's token too. */
const PART = /^[\w-]{0,63}$/
const BETWEEN_PARTS = /[.[\]/="\\,:]/
const LONGEST_FIELD = 512

/**
 * The refusal of a server that a tenant named, in our words: its URL may lead to a machine that the tenant can't read from otherwise,
 * and a server may echo the token. What is told is the code and, of a Status, the reason and the fields at fault. The cause keeps
 * what it said, for who has to tell one refusal from another; but for the fields it is not for showing.
 */
export const failureFromStranger: Refuse = (httpStatus, said, about) => {
  const { kind, reason } = said
  const details = detailsOf(said.details)
  const cause = { ...said, details }
  if (kind !== 'Status' || !isKnownReason(reason)) return failureFromStatus(httpStatus, { details }, about, { cause })
  const fields = details.causes.flatMap(({ field }) => field || []).slice(0, MOST_FIELDS)
  const where = fields.length > 0 ? `, at ${fields.join(', ')}` : ''
  const message = `the API server answered HTTP ${httpStatus} (${reason})${where}`
  const remedy = 'Ask it with kubectl for its own words'
  return failureFromStatus(httpStatus, { reason, message, details }, about, { remedy, cause })
}

function detailsOf(details: unknown): Details & { causes: StatusCause[] } {
  const { name, retryAfterSeconds } = isRecord(details) ? details : {}
  return {
    ...(typeof name === 'string' && { name }),
    ...(Number.isFinite(retryAfterSeconds) && { retryAfterSeconds: Number(retryAfterSeconds) }),
    causes: causesIn(details).map(({ reason, message, field }) => ({
      reason,
      // Whom a field belongs to is said in it, and would be shown.
      message: reason === 'FieldManagerConflict' ? '' : message,
      field: isField(field) ? field : '',
    })),
  }
}

type Details = NonNullable<ApiStatus['details']>

const isField = (field: string): boolean =>
  field.length <= LONGEST_FIELD && field.split(BETWEEN_PARTS).every((part) => PART.test(part))
