import { type Failure, isRecord } from '../../std/index.ts'
import { type ObjectId, sayId } from './object-id.ts'

/** A failure about an object as users may read it: what the server says about a Secret may quote the Secret. */
export function sentenceAbout(id: ObjectId, failure: Failure): string {
  if (failure.code === 'internal') return 'unexpected internal error; the log says more'
  if (id.kind === 'Secret') return `the API server refused it (${failure.reason ?? failure.code})${fieldsOf(failure)}`
  const message = failure.message.replace(`${failure.object}: `, '')
  const text = failure.remedy ? `${message}. ${failure.remedy}` : message
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

function fieldsOf({ cause }: Failure): string {
  if (!isRecord(cause) || !isRecord(cause.details) || !Array.isArray(cause.details.causes)) return ''
  const fields = cause.details.causes.filter(isRecord).map(({ field }) => String(field))
  return fields.length > 0 ? `: ${fields.join(', ')}` : ''
}

/** `Deployment.apps shop/web, Service shop/web and 3 more`. */
export function sayIds(ids: readonly ObjectId[], most = 8): string {
  const names = ids.slice(0, most).map(sayId).join(', ')
  return ids.length > most ? `${names} and ${ids.length - most} more` : names
}
