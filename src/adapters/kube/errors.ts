import { beginningOf, Failure, type FailureCode, isRecord } from '../../std/index.ts'

/** meta.k8s.io/v1 Status, as the API server answers when it refuses. */
export interface ApiStatus {
  kind?: string
  reason?: string
  message?: string
  details?: { name?: string; retryAfterSeconds?: number; causes?: { reason?: string; message?: string; field?: string }[] }
}

/** Makes a Failure of a refusal. `about` names the object: `DeploymentTarget team-a/dev`. */
export type Refuse = (httpStatus: number, status: ApiStatus, about: string) => Failure

const BY_REASON: Record<string, FailureCode> = {
  NotFound: 'not-found',
  AlreadyExists: 'already-exists',
  Conflict: 'conflict',
  Invalid: 'invalid',
  BadRequest: 'invalid',
  Forbidden: 'forbidden',
  Unauthorized: 'unauthorized',
  Expired: 'expired',
  Gone: 'expired',
  RequestEntityTooLarge: 'too-large',
  Timeout: 'timeout',
  ServerTimeout: 'unavailable',
  TooManyRequests: 'unavailable',
  ServiceUnavailable: 'unavailable',
  InternalError: 'unavailable',
}

const BY_HTTP_STATUS: Record<number, FailureCode> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  410: 'expired',
  413: 'too-large',
  422: 'invalid',
  429: 'unavailable',
  504: 'timeout',
}

/** The reason of a 404 that means the whole kind, not one object: its CRD is not installed, or not any more. */
export const KIND_NOT_SERVED = 'KindNotServed'

export const isKnownReason = (reason: unknown): reason is string => typeof reason === 'string' && Object.hasOwn(BY_REASON, reason)

/** The refusal of the own API server, in its words. */
export function failureFromStatus(
  httpStatus: number,
  status: ApiStatus,
  about: string,
  { remedy, cause = status }: { remedy?: string; cause?: ApiStatus } = {},
): Failure {
  const code = BY_REASON[status.reason ?? ''] ?? BY_HTTP_STATUS[httpStatus] ?? (httpStatus >= 500 ? 'unavailable' : 'internal')
  const seconds = status.details?.retryAfterSeconds
  const reason = code === 'not-found' && !status.details?.name ? KIND_NOT_SERVED : status.reason
  return new Failure(httpStatus < 400 ? 'unavailable' : code, messageOf(httpStatus, status), {
    object: about,
    ...(reason && { reason }),
    ...(remedy && { remedy }),
    ...(seconds !== undefined && { retryAfter: seconds * 1000 }),
    cause,
  })
}

/** A redirect is never followed: it would lead past what was judged before, with the token. */
function messageOf(httpStatus: number, { message = '' }: ApiStatus): string {
  if (httpStatus < 400) return `the server answered with a redirect (HTTP ${httpStatus}), which is not followed`
  const said = beginningOf(message)
  // Of what it has no kind for, a server says nothing that would help.
  if (httpStatus === 404 && NO_PAGE.test(said)) return 'the cluster does not serve this kind'
  return said || `the API server answered HTTP ${httpStatus}`
}

const NO_PAGE = /^(404 page not found|the server could not find the requested resource)/

/** Creating in a namespace that is being deleted is refused for good: waiting for it is pointless. */
export const isNamespaceTerminating = (failure: unknown): boolean =>
  failure instanceof Failure && causesOf(failure).some((cause) => cause.reason === 'NamespaceTerminating')

/** One thing that the API server holds against an object. */
export interface StatusCause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

/** Of a refusal. */
export const causesOf = ({ cause }: Failure): StatusCause[] => (isRecord(cause) ? causesIn(cause.details) : [])

/** meta.k8s.io/v1 StatusDetails.causes. */
export function causesIn(details: unknown): StatusCause[] {
  if (!isRecord(details) || !Array.isArray(details.causes)) return []
  return details.causes.filter(isRecord).map(({ reason, message, field }) => ({
    reason: textIn(reason),
    message: textIn(message),
    field: textIn(field),
  }))
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The server's words as a whole, for telling one refusal from another. It may be a stranger's text, which is not for showing. */
export const saidIn = ({ cause }: Failure): string => (isRecord(cause) ? textIn(cause.message) : '')
