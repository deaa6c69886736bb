import { type Failure, isRecord } from '../../std/index.ts'

/** One thing that the API server holds against an object. */
export interface Cause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

/** meta.k8s.io/v1 StatusDetails.causes of a refusal. */
export function causesOf({ cause }: Failure): Cause[] {
  if (!isRecord(cause) || !isRecord(cause.details) || !Array.isArray(cause.details.causes)) return []
  return cause.details.causes.filter(isRecord).map(({ reason, message, field }) => ({
    reason: String(reason ?? ''),
    message: String(message ?? ''),
    field: String(field ?? ''),
  }))
}

/** What the server said as a whole, for telling one refusal from another. It may be a stranger's text, which is not for showing. */
export const saidIn = ({ cause }: Failure): string => (isRecord(cause) && typeof cause.message === 'string' ? cause.message : '')
