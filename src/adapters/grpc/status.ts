import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js'
import { defined, Failure, type FailureCode, isFailure } from '../../std/index.ts'
import { type TextMetadata, textOf } from './metadata.ts'

/** `invalid` is the user's mistake in the repository or in an object; a malformed request says so by its reason. */
const STATUS: Record<FailureCode, status> = {
  invalid: status.FAILED_PRECONDITION,
  'not-found': status.NOT_FOUND,
  'already-exists': status.ALREADY_EXISTS,
  conflict: status.ABORTED,
  forbidden: status.PERMISSION_DENIED,
  unauthorized: status.UNAUTHENTICATED,
  expired: status.UNAVAILABLE,
  'too-large': status.FAILED_PRECONDITION,
  timeout: status.DEADLINE_EXCEEDED,
  unavailable: status.UNAVAILABLE,
  cancelled: status.CANCELLED,
  internal: status.UNAVAILABLE,
}

const CODE: ReadonlyMap<status, FailureCode> = new Map([
  [status.INVALID_ARGUMENT, 'invalid'],
  [status.FAILED_PRECONDITION, 'invalid'],
  [status.NOT_FOUND, 'not-found'],
  [status.ALREADY_EXISTS, 'already-exists'],
  [status.ABORTED, 'conflict'],
  [status.PERMISSION_DENIED, 'forbidden'],
  [status.UNAUTHENTICATED, 'unauthorized'],
  [status.DEADLINE_EXCEEDED, 'timeout'],
  [status.RESOURCE_EXHAUSTED, 'unavailable'],
  [status.UNAVAILABLE, 'unavailable'],
  [status.CANCELLED, 'cancelled'],
  [status.UNIMPLEMENTED, 'not-found'],
])

/** Reason and remedy travel beside the status, binary, because gRPC metadata is ASCII and remedies are prose. */
const REASON = 'berth-reason'
const REMEDY = 'berth-remedy-bin'

/** A call's end with an error, exactly as it is to arrive: for who passes on what somebody else has said. */
export class CallEnded extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The status that the other side may see. The text of an `internal` failure stays here: it may tell of paths, hosts or secrets. */
export function statusFromFailure(thrown: unknown): StatusObject {
  if (thrown instanceof CallEnded) return { code: thrown.code, details: thrown.message, metadata: new Metadata() }
  const failure = Failure.from(thrown)
  const metadata = new Metadata()
  if (failure.reason) metadata.set(REASON, failure.reason)
  if (failure.remedy) metadata.set(REMEDY, Buffer.from(failure.remedy, 'utf8'))
  const malformed = failure.reason === 'InvalidRequest'
  return {
    code: malformed ? status.INVALID_ARGUMENT : STATUS[failure.code],
    details: failure.code === 'internal' ? 'internal error; the cause is in the log of the server' : failure.message,
    metadata,
  }
}

/** How a call ended with an error, as it travels inside other messages than gRPC's own. */
export interface CallEnd {
  /** Of gRPC; never 0. */
  code: number
  message: string
  trailer: TextMetadata
}

/** The same as a call would show: what is `internal` keeps its text here. */
export function endFrom(thrown: unknown): CallEnd {
  const { code, details, metadata } = statusFromFailure(thrown)
  return { code, message: details, trailer: textOf(metadata) }
}

/** The failure that a call would have thrown that ended so. Its cause is a `CallEnded`. */
export const failureFromEnd = ({ code, message, trailer }: CallEnd, about: string): Failure =>
  failureOf({ code, message, reason: trailer[REASON]?.[0], cause: new CallEnded(code, message) }, about)

/** The reason of a failure that means: the peer does not know this method. */
export const UNIMPLEMENTED = 'Unimplemented'

/** The other side's status as one of our failures. */
export function failureFromStatus(thrown: unknown, about: string): Failure {
  if (!isServiceError(thrown)) return Failure.from(thrown, about)
  const { code, details, metadata } = thrown
  const reason = metadata.get(REASON)[0]?.toString() ?? (code === status.UNIMPLEMENTED ? UNIMPLEMENTED : undefined)
  return failureOf({ code, message: details, reason, remedy: metadata.get(REMEDY)[0]?.toString('utf8'), cause: thrown }, about)
}

interface Received {
  code: status
  message: string
  reason: string | undefined
  remedy?: string | undefined
  cause: unknown
}

/** With a reason the text is a sentence for users and stays as it is. */
const failureOf = ({ code, message, reason, remedy, cause }: Received, about: string): Failure =>
  new Failure(CODE.get(code) ?? 'internal', reason === undefined ? `${about}: ${message}` : message, {
    cause,
    ...defined({ reason, remedy }),
  })

const isServiceError = (thrown: unknown): thrown is ServiceError =>
  !isFailure(thrown) && thrown instanceof Error && 'code' in thrown && 'details' in thrown && 'metadata' in thrown
