import { Failure } from '../../std/index.ts'

export interface ServerAddress {
  scheme: 'grpc' | 'grpcs' | 'ws' | 'wss'
  /** A name, an IPv4 address or an IPv6 address without brackets. */
  host: string
  port: number
  /** `host:port` as it is written: IPv6 in brackets. */
  authority: string
  /** Of a WebSocket: path and query; `/` without. */
  path: string
}

const PORTS = { grpc: 80, ws: 80, grpcs: 443, wss: 443 } as const
const ADDRESS = /^(?:(\w+):\/\/)?(\[[0-9a-f:.]+\]|[^\s/:[\]@?#]+)(?::(\d{1,5}))?(\/[^\s#]*)?$/i

/** `host`, `host:port` and `grpc://…` are plain text, `grpcs://…` is TLS; `ws://…/path` and `wss://…/path` go through a WebSocket. */
export function parseAddress(address: string): ServerAddress {
  const [, given = 'grpc', host, digits, path] = ADDRESS.exec(address) ?? []
  const scheme = schemeOf(given.toLowerCase())
  const port = digits === undefined ? scheme && PORTS[scheme] : Number(digits)
  if (!host || !scheme || !port || port > 65_535 || (path !== undefined && scheme !== 'ws' && scheme !== 'wss'))
    throw new Failure('invalid', `${withoutQuery(address)} is not an address of a gRPC server`, {
      remedy: 'Write host:port, grpc://host:port, grpcs://host:port, ws://host:port/path or wss://host:port/path.',
    })
  return { scheme, host: host.replace(/^\[(.*)\]$/, '$1'), port, authority: `${host}:${port}`, path: path ?? '/' }
}

const schemeOf = (given: string): ServerAddress['scheme'] | undefined =>
  given === 'grpc' || given === 'grpcs' || given === 'ws' || given === 'wss' ? given : undefined

/** Queries, and what stands before an @, may hold secrets. */
const withoutQuery = (address: string): string => address.replace(/[?#].*/s, '').replace(/\/\/[^/]*@/, '//')
