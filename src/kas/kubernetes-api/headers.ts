import { canonicalName, type Values } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'

/** Requests: what the API server needs. Everything else, credentials of all kinds among it, stays here. */
const REQUEST: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'content-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'kubectl-command',
  'kubectl-session',
  'range',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
  'user-agent',
  'x-stream-protocol-version',
])

/** Answers: a cluster is hostile. No header that a browser or a proxy before kas obeys, and none that says where the answer ends. */
const RESPONSE: ReadonlySet<string> = new Set([
  'accept-patch',
  'allow',
  'audit-id',
  'content-encoding',
  'content-range',
  'date',
  'etag',
  'last-modified',
  'retry-after',
  'vary',
  'via',
  'warning',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
])

/** Only of the answer 101. */
const UPGRADE: ReadonlySet<string> = new Set([
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'x-stream-protocol-version',
])

/** Those that an answer has once. Of two each reader takes another. */
const ONCE: ReadonlySet<string> = new Set([
  'audit-id',
  'content-encoding',
  'content-range',
  'content-type',
  'date',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'sec-websocket-accept',
  'sec-websocket-protocol',
  'upgrade',
])

/** Types that no browser renders or runs. */
const TYPES =
  /^(application\/(json|yaml|cbor|cbor-seq|octet-stream|vnd\.kubernetes\.protobuf|openapi\.v3\+json|com\.github\.[a-z0-9.@-]+(\+(json|protobuf|gzip))?|(apply|json|merge|strategic-merge)-patch\+(json|yaml|cbor)|vnd\.[a-z0-9.-]+\+(json|protobuf))|text\/plain)\s*(;|$)/i

const PRINTABLE = /^[\t -~]*$/

/** Parameters that hold credentials, in the forms that GitLab knows and some more. */
const SECRET_PARAMETER = /^(gitlab[-_]agent[-_]id|authenticity_token|access_token|private_token|job_token|bearer_token)$|csrf/i

/** Browsers can send a token only as a protocol of a WebSocket; here it would reach the cluster. */
const TOKEN_PROTOCOL = /^base64url\.bearer\.authorization\.k8s\.io\./i

/** Keeps the headers of a request that may go to the agent. `impersonation`: those of an impersonation too. */
export function requestHeaders(given: Values, { impersonation }: { impersonation: boolean }): Values {
  const kept: Record<string, readonly string[]> = Object.create(null)
  for (const [name, values] of Object.entries(given)) {
    if (!(REQUEST.has(name) || (impersonation && IMPERSONATE.test(name)))) continue
    const clean = name === 'sec-websocket-protocol' ? withoutTokens(values) : values
    if (clean.length > 0) kept[canonicalName(name)] = clean
  }
  return kept
}

export const IMPERSONATE = /^impersonate-/

const withoutTokens = (values: readonly string[]): string[] => {
  const protocols = values.flatMap((value) => value.split(',').map((one) => one.trim()))
  const kept = protocols.filter((protocol) => protocol && !TOKEN_PROTOCOL.test(protocol))
  return kept.length > 0 ? [kept.join(', ')] : []
}

export function queryOf(query: URLSearchParams): Values {
  const kept: Record<string, string[]> = Object.create(null)
  for (const [key, value] of query) if (!SECRET_PARAMETER.test(key)) add(kept, key, value)
  return kept
}

/** Forms are what other people's pages can make a browser send. */
export function checkContentType(given: Values, hasBody: boolean): void {
  const type = given['content-type']?.[0]
  if (hasBody && type !== undefined && !TYPES.test(type))
    throw new Failure('invalid', 'the content type of the request is not one that Kubernetes takes', {
      reason: 'UnsupportedMediaType',
    })
}

/** Each name once, in lower case: peers may send it in several spellings, and what is looked at must be what is passed on. */
export function folded(given: Values): Values {
  const all: Record<string, string[]> = Object.create(null)
  for (const [name, values] of Object.entries(given)) for (const value of values) add(all, name.toLowerCase(), value)
  return all
}

/** A list that is copied for each value would take quadratic time. */
function add(all: Record<string, string[]>, name: string, value: string): void {
  const known = all[name]
  if (known) known.push(value)
  else all[name] = [value]
}

/** Keeps the headers of an answer, already folded, that may reach the visitor. `prefix` precedes the cluster's paths at kas. */
export function responseHeaders(given: Values, { status, prefix }: { status: number; prefix: string }): Values {
  const kept: Record<string, readonly string[]> = Object.create(null)
  const allowed = (name: string) => RESPONSE.has(name) || (status === 101 && UPGRADE.has(name))
  for (const [name, values] of Object.entries(given)) {
    const [first] = values
    if (ONCE.has(name) && values.length > 1) continue
    if (allowed(name) && values.every((value) => PRINTABLE.test(value))) kept[name] = values
    if (name === 'cache-control') kept[name] = [onlyForOne(values.join(','))]
    if (name === 'location' && first && isOwnPath(first)) kept[name] = [prefix + first]
    if (name === 'content-type') kept[name] = [harmless(first)]
  }
  if (status === 101) return kept
  const hasNone = status === 204 || status === 304
  return {
    ...(hasNone ? {} : { 'content-type': ['application/octet-stream'] }),
    ...kept,
    'x-content-type-options': ['nosniff'],
    'content-security-policy': ["default-src 'none'; sandbox"],
  }
}

/** A type that is not on the list is given as bytes without meaning. */
const harmless = (type: string | undefined): string =>
  type !== undefined && TYPES.test(type) && PRINTABLE.test(type) ? type : 'application/octet-stream'

/** At one address each person reaches another cluster: what one of them says of itself must not be kept for others. */
const onlyForOne = (control: string): string => {
  const said = control.split(',').map((one) => one.trim().toLowerCase())
  return [
    'private',
    ...said.filter((one) => /^(no-cache|no-store|no-transform|must-revalidate|immutable|max-age=\d{1,9})$/.test(one)),
  ].join(', ')
}

/** Below this host, and nowhere else: `//host` and `/\host` lead to others. */
const isOwnPath = (location: string): boolean => /^\/(?![/\\])[!-~]*$/.test(location)
