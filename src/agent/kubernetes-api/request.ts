import { HOP_BY_HOP } from '../../adapters/http/index.ts'
import type { HttpHeaders } from '../../adapters/kube/index.ts'
import type { Impersonation, RequestHead, Values } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'

/** Nobody else says who the agent is to the API server, and cookies of a person are none of its business. */
const REFUSED = /^(host|content-length|authorization|cookie|x-remote-.*|x-csrf-token|gitlab-agent-id)$/

export const hasUpgrade = (headers: Values): boolean => Object.keys(headers).some((name) => name.toLowerCase() === 'upgrade')

/** As the API server is to see them. */
export function passageHeaders(head: RequestHead, product: string, hasBody: boolean): HttpHeaders {
  const sent: Record<string, readonly string[]> = Object.create(null)
  for (const [name, values] of Object.entries(head.headers)) {
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) || REFUSED.test(lower)) continue
    sent[lower] = values.map((value) => printable(lower, value))
  }
  const upgrade = Object.entries(head.headers).find(([name]) => name.toLowerCase() === 'upgrade')?.[1]
  if (upgrade) Object.assign(sent, { connection: ['Upgrade'], upgrade })
  const framing: HttpHeaders =
    head.length === undefined ? { 'transfer-encoding': ['chunked'] } : { 'content-length': [String(head.length)] }
  return {
    ...sent,
    ...(hasBody ? framing : {}),
    via: [...(sent.via ?? []), `gRPC/1.0 ${product}`],
    ...(head.impersonation && impersonation(head.impersonation, sent)),
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function impersonation({ user, groups, uid, extra }: Impersonation, sent: HttpHeaders): HttpHeaders {
  if (Object.keys(sent).some((name) => name.startsWith('impersonate-')))
    throw new Failure('unavailable', 'nested impersonation: the request impersonates in two ways', {
      reason: 'NestedImpersonation',
    })
  // To a server an empty user is none: what was meant for somebody else would be done with the agent's own rights.
  if ([user, ...groups].some((name) => name.trim() === '')) throw wrong('an impersonation of a user or group without a name')
  const headers: Record<string, readonly string[]> = { 'impersonate-user': [printable('user', user)] }
  if (groups.length > 0) headers['impersonate-group'] = groups.map((group) => printable('group', group))
  if (uid) headers['impersonate-uid'] = [printable('uid', uid)]
  for (const [key, values] of Object.entries(extra))
    headers[`impersonate-extra-${escaped(key)}`] = values.map((value) => printable(key, value))
  return headers
}

/** Characters that no token of HTTP has are percent-encoded, as the API server reads them. */
const escaped = (key: string): string =>
  [...Buffer.from(key.toLowerCase(), 'utf8')]
    .map((byte) => (TOKEN.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`))
    .join('')

const TOKEN = /^[!#$&'*+.^_`|~0-9a-z-]$/

/** A line break would begin another header. */
function printable(name: string, value: string): string {
  if (/\p{Cc}/u.test(value.replaceAll('\t', ''))) throw wrong(`a control character in ${name}`)
  return value
}

/** Path and query as they are sent. A path that climbs could leave the path of the server. */
export function targetOf({ path, query }: RequestHead): string {
  if (!path.startsWith('/') || path.split('/').some((part) => part === '.' || part === '..'))
    throw wrong('a path that does not stand')
  const encoded = encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23')
  const parameters = Object.entries(query).flatMap(([key, values]) => values.map((value): [string, string] => [key, value]))
  return parameters.length > 0 ? `${encoded}?${new URLSearchParams(parameters)}` : encoded
}

const wrong = (what: string) => new Failure('invalid', `the request has ${what}`, { reason: 'OutOfOrder' })
