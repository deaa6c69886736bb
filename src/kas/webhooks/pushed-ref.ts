import type { ServedRequest } from '../../adapters/http/index.ts'
import { Failure } from '../../std/index.ts'

/**
 * The whole name of the ref that a push was to, where the payload says so; `undefined` means that anything may have changed.
 * It is compared and nothing else: which commit is there now, the Git server is asked. What is no JSON object is refused.
 */
export function pushedRef(request: ServedRequest): string | undefined {
  const text = payloadOf(request)
  if (text.trim() === '') return undefined
  const { ref, ref_type: type } = objectIn(text)
  if (ref === undefined || ref === null) return undefined
  if (typeof ref !== 'string' || ref.length > 1024) throw malformed('ref is not the name of a ref')
  if (ref.startsWith('refs/')) return ref
  // GitHub and Gitea tell so of a new branch or tag.
  if (type === 'branch' || type === 'tag') return `refs/${type === 'tag' ? 'tags' : 'heads'}/${ref}`
  return undefined
}

/** GitHub sends forms, unless it is told not to. */
function payloadOf({ header, body }: ServedRequest): string {
  const text = body.toString('utf8')
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(header('content-type') ?? '')
  return isForm ? (new URLSearchParams(text).get('payload') ?? '') : text
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (thrown) {
    throw malformed('the body is not JSON', thrown)
  }
  throw malformed('the body is not a JSON object')
}

const malformed = (why: string, cause?: unknown) =>
  new Failure('invalid', why, { reason: 'InvalidRequest', ...(cause === undefined ? {} : { cause }) })
