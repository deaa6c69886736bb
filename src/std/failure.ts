import { asSentence } from './text.ts'

/** Every way in which something can go wrong here. What is retried, and how, stands in engines/controller/retry-policy.ts. */
export type FailureCode =
  | 'invalid' // the user's mistake: the text is fit for a status condition; retried when the object changes
  | 'not-found'
  | 'already-exists'
  | 'conflict' // somebody else wrote first: read again
  | 'forbidden'
  | 'unauthorized'
  | 'expired' // a resourceVersion or token that is too old
  | 'too-large'
  | 'timeout'
  | 'unavailable' // the other side is not there, or asks for patience
  | 'cancelled'
  | 'internal' // ours: outside, a generic text; in the log, the cause

export interface FailureDetails {
  /** CamelCase word for the condition, for example `SecretNotFound`. */
  reason?: string
  /** One sentence that says how the user can mend it. */
  remedy?: string
  /** The object it is about: `DeploymentTargetClaim team-a/dev`. */
  object?: string
  cause?: unknown
  /** The other side asked to wait this long (milliseconds). */
  retryAfter?: number
}

/** The one error family. The message is a sentence fit for users when `code` is not `internal`. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly reason: string | undefined
  readonly remedy: string | undefined
  readonly object: string | undefined
  readonly retryAfter: number | undefined

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(details.object ? `${details.object}: ${message}` : message, { cause: details.cause })
    this.name = 'Failure'
    this.code = code
    this.reason = details.reason
    this.remedy = details.remedy
    this.object = details.object
    this.retryAfter = details.retryAfter
  }

  /** The single place where foreign errors become ours. */
  static from(thrown: unknown, about?: string): Failure {
    if (thrown instanceof Failure) return thrown
    const cause = thrown instanceof Error ? thrown : new Error(String(thrown))
    const message = about ? `${about}: ${cause.message}` : cause.message
    return new Failure(codeOf(cause), message, { cause })
  }
}

export const isFailure = (thrown: unknown, ...codes: FailureCode[]): thrown is Failure =>
  thrown instanceof Failure && (codes.length === 0 || codes.includes(thrown.code))

/** False where the work failed with one of the codes; other failures are thrown. */
export async function unlessFailed(work: Promise<unknown>, ...codes: FailureCode[]): Promise<boolean> {
  try {
    await work
    return true
  } catch (thrown) {
    if (isFailure(thrown, ...codes)) return false
    throw thrown
  }
}

/** For conditions and counters: its reason, or else its code. */
export const failureReason = ({ reason, code }: Failure): string => reason ?? code

/** With what can be done about it. */
export const sayFailure = ({ message, remedy }: Failure): string =>
  remedy === undefined ? message : `${asSentence(message)} ${remedy}`

const UNREACHABLE = /ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_(SOCKET|CLOSED|DESTROYED)/
const TOO_LATE = /ETIMEDOUT|UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT|TimeoutError/

/** Node and undici hide the telling code at the end of a chain of causes. */
function codeOf(error: Error): FailureCode {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const word = 'code' in at ? `${at.name} ${String(at.code)}` : at.name
    if (at.name === 'AbortError') return 'cancelled'
    if (TOO_LATE.test(word)) return 'timeout'
    if (UNREACHABLE.test(word)) return 'unavailable'
  }
  return 'internal'
}
