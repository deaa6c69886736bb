import { randomBytes } from 'node:crypto'
import type { Visit } from '../../adapters/http/index.ts'
import type { Failure } from '../../std/index.ts'
import { AGENT_FAILED } from './behind.ts'

/** Translates our failures for clients of Kubernetes. */
const ANSWERS: Partial<Record<Failure['code'], [code: number, reason: string, text: string]>> = {
  invalid: [400, 'BadRequest', 'Bad Request'],
  unauthorized: [401, 'Unauthorized', 'Unauthorized'],
  // Never 404: to a client it would mean that the object it asked for is gone, and it would forget that object.
  forbidden: [403, 'Forbidden', 'Forbidden'],
  'too-large': [413, 'RequestEntityTooLarge', 'Request Entity Too Large'],
  timeout: [504, 'Timeout', 'Gateway Timeout'],
  unavailable: [503, 'ServiceUnavailable', 'Service Unavailable'],
}

const BY_REASON: Record<string, [code: number, reason: string, text: string]> = {
  RequestTooSlow: [408, 'Timeout', 'Request Timeout'],
  TooManyRequests: [429, 'TooManyRequests', 'Too Many Requests'],
  UnsupportedMediaType: [415, 'UnsupportedMediaType', 'Unsupported Media Type'],
  // A peer that breaks the rules of the wire.
  OutOfOrder: [502, 'ServiceUnavailable', 'Bad Gateway'],
  [AGENT_FAILED]: [502, 'ServiceUnavailable', 'Bad Gateway'],
}

export const createTraceId = (): string => randomBytes(16).toString('hex')

/** Answers with a Status object, as an API server does, so that every client can show it. Gives the code. */
export function answerFailure(visit: Visit, failure: Failure, traceId: string): number {
  const [code, reason, text] = BY_REASON[failure.reason ?? ''] ??
    ANSWERS[failure.code] ?? [500, 'InternalError', 'Internal Server Error']
  const what =
    code === 500 ? 'internal error; the cause is in the log' : `${failure.message}${failure.remedy ? `. ${failure.remedy}` : ''}`
  const message = `Berth: ${what.replace(/\.$/, '')}. Trace ID: ${traceId}`
  const wait = failure.retryAfter === undefined ? undefined : Math.ceil(failure.retryAfter / 1000)
  const details = wait === undefined ? {} : { details: { retryAfterSeconds: wait } }
  const body = Buffer.from(
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, ...details, code }),
  )
  visit.begin(code, text, {
    'content-type': ['application/json'],
    'content-length': [String(body.length)],
    'cache-control': ['no-store'],
    'x-content-type-options': ['nosniff'],
    ...(wait !== undefined && { 'retry-after': [String(wait)] }),
    // A body that was not read is in the way of the next request.
    ...((visit.length ?? 1) > 0 && { connection: ['close'] }),
    // The cluster behind answers 401 too: this one is kas' own. The second name is the one that GitLab's clients know.
    ...(code === 401 && { 'www-authenticate': ['Bearer'], 'berth-unauthorized': ['true'], 'gitlab-unauthorized': ['true'] }),
  })
  void visit.send(body)
  visit.end()
  return code
}
