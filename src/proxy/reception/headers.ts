import { type FlatHeaders, HOP_BY_HOP } from '../../adapters/http/index.ts'
import { harmlessCookie, withoutOwn } from '../web/cookies.ts'

/** The proxy has answered `Expect` itself. */
const HOP: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'expect'])

/** This proxy alone says where a request came from. Compared with `-` for `_`: some servers do not tell them apart. */
const SPOOFED =
  /^(x-forwarded-.*|forwarded|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|x-original-(url|host|uri|method|forwarded-for)|x-rewrite-url|x-remote-(user|groups?).*|x-auth-request-.*|x-berth-.*|x-request-id|via)$/

/** Headers of answers that act on more than the answer: on cookies of the whole site, on where the host lies, on proxies before this one. */
const FAR_REACHING = /^(clear-site-data|alt-svc|nel|report-to|x-accel-.*|x-sendfile|x-reproxy-url|public-key-pins.*|proxy-.*)$/

interface Onward {
  /** Address of the visitor. */
  from: string
  host: string
  requestId: string
  /** The Authorization header goes on, and is the workspace's own then. */
  passAuthorization: boolean
  /** The protocol to go on with. */
  upgrade?: string | undefined
}

/** Gives what the workspace gets, in the order and the spelling in which it was sent. */
export function headersOnward(raw: FlatHeaders, onward: Onward): string[] {
  const kept = withoutHops(raw, (key, value) => {
    if (SPOOFED.test(key.replaceAll('_', '-'))) return
    if (key === 'authorization' && !onward.passAuthorization) return
    return key === 'cookie' ? withoutOwn(value) : value
  })
  kept.push('X-Forwarded-For', onward.from, 'X-Forwarded-Host', onward.host, 'X-Forwarded-Proto', 'https')
  kept.push('X-Request-Id', onward.requestId)
  if (onward.upgrade !== undefined) kept.push('Connection', 'Upgrade', 'Upgrade', onward.upgrade)
  return kept
}

/** Gives what the visitor gets. */
export const headersBack = (raw: FlatHeaders): string[] =>
  withoutHops(raw, (key, value) => {
    if (FAR_REACHING.test(key)) return
    return key === 'set-cookie' ? harmlessCookie(value) : value
  })

/** Leaves out what speaks of one connection, and what has no value. */
function withoutHops(raw: FlatHeaders, keep: (key: string, value: string) => string | undefined): string[] {
  const named = namedByConnection(raw)
  const kept: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? ''
    const key = name.toLowerCase()
    const value = HOP.has(key) || named.has(key) ? undefined : keep(key, raw[at + 1] ?? '')
    if (value !== undefined) kept.push(name, value)
  }
  return kept
}

/** Length and host belong to the message: nobody takes them out by naming them. */
const FIXED: ReadonlySet<string> = new Set(['host', 'content-length', 'cookie', 'set-cookie', 'content-type'])

function namedByConnection(raw: FlatHeaders): ReadonlySet<string> {
  const named = new Set<string>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue
    for (const word of (raw[at + 1] ?? '').toLowerCase().split(',')) if (!FIXED.has(word.trim())) named.add(word.trim())
  }
  return named
}
