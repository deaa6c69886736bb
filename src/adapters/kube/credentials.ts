import type { RequestOptions } from 'node:https'
import type { LookupFunction } from 'node:net'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { KubeConfig } from '@kubernetes/client-node'
import { Agent, buildConnector } from 'undici'
import { type Clock, Failure, minutes, type Secret } from '../../std/index.ts'
import { createMultiplex, type Multiplex, type TlsOptions } from './multiplex.ts'
import { asHeader } from './paths.ts'

/** The connections with one TLS material. */
interface ConnectionPool {
  agents: Record<'requests' | 'watches', Agent> & { streams: Multiplex }
  tls: TlsOptions
}

interface PoolOptions {
  connections: number
  /** How the server's name becomes addresses; the system's way without it. */
  lookup?: LookupFunction | undefined
  /** Somebody else's server. */
  isStrange: boolean
}

/** TLS material and the authorization header, read again each minute: tokens in files and from exec plugins rotate. */
export function createCredentials(
  config: KubeConfig,
  /** The token wins over the one of the kubeconfig. */
  { clock, token }: { clock: Clock; token?: (() => Promise<Secret<string>>) | undefined },
  options: PoolOptions,
) {
  const pools = createPools(options, clock)
  let ready: { until: number; value: ReturnType<typeof load> } | undefined
  let newest = 0

  const load = async (turn: number): Promise<ConnectionPool & { authorization: Record<string, string> }> => {
    const request: RequestOptions = {}
    await config.applyToHTTPSOptions(request).catch((cause: unknown) => {
      throw unreadable(cause)
    })
    // A newer one is under way: what an older one read may have ended since.
    if (turn !== newest) return current()
    const authorization = token ? { authorization: `Bearer ${(await token()).reveal()}` } : headersOf(request)
    return { ...pools.for(request), authorization }
  }

  const current = (): ReturnType<typeof load> => {
    if (ready && ready.until > clock.now()) return ready.value
    const value = load(++newest)
    const loading = { until: clock.now() + minutes(1), value }
    ready = loading
    // Requests that come while it is under way share the failure; the next one has it tried again.
    value.catch(() => {
      if (ready === loading) ready = undefined
    })
    return value
  }

  return {
    current,
    /** The server refused them: they are read again for the next request. */
    forget(): void {
      ready = undefined
    },
    close: () => pools.close(),
  }
}

/** Connections with one TLS material at a time; those with an older one end when what goes over them has ended. */
function createPools({ lookup, connections, isStrange }: PoolOptions, clock: Clock) {
  let open: { material: string; pool: ConnectionPool } | undefined
  let isClosed = false
  const retired = new Set<Agent>()

  const retire = ({ requests, watches, streams }: ConnectionPool['agents']) => {
    // Who watches over them opens them anew, with what is valid now.
    streams.close()
    for (const agent of [requests, watches]) {
      retired.add(agent)
      const forget = () => retired.delete(agent)
      agent.close().then(forget, forget)
    }
  }

  return {
    for(options: RequestOptions): ConnectionPool {
      if (isClosed) throw new Failure('unavailable', 'the connection is closed')
      const given = tlsOf(options)
      const material = JSON.stringify(given)
      if (open?.material === material) return open.pool
      const { ca, cert, key, ...checks } = given
      // To read the certificates anew costs each connection half a millisecond; of one connector, it may resume a session.
      const tls = { ...checks, secureContext: contextOf({ ca, cert, key }) }
      // Not before: while a key and its certificate are being replaced they do not fit together, and what is open goes on.
      if (open) retire(open.pool.agents)
      const connect = buildConnector({ ...tls, allowH2: false, keepAlive: true, ...(lookup && { lookup }) })
      const common = { connect, pipelining: 1, keepAliveTimeout: minutes(1) }
      const streams = createMultiplex({ tls, clock, lookup, isStrange })
      const agents = { requests: new Agent({ ...common, connections }), watches: new Agent(common), streams }
      open = { material, pool: { tls, agents } }
      return open.pool
    },
    async close() {
      isClosed = true
      const agents = open?.pool.agents
      agents?.streams.close()
      const all = [...retired, ...(agents ? [agents.requests, agents.watches] : [])]
      await Promise.all(all.map((agent) => agent.destroy()))
    },
  }
}

function tlsOf({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions) {
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    ...(servername && { servername }),
  }
}

function contextOf(material: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(material)
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

/** In lower case. */
export function headersOf(options: RequestOptions): Record<string, string> {
  const { headers, auth } = options
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}
  if (!headers || Array.isArray(headers)) return basic
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), asHeader(String(value))])
  return { ...basic, ...Object.fromEntries(given) }
}

/** Files that are being replaced, an exec plugin that has a bad day: it passes. */
export const unreadable = (cause: unknown) =>
  new Failure('unavailable', `the credentials of the kubeconfig cannot be read: ${Failure.from(cause).message}`, {
    remedy: 'Look at the files and the exec plugin that the kubeconfig names.',
    cause,
  })
