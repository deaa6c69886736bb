import type { Http2Server, ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js'
import { type Clock, Failure, type ListenerKeys, type Log, minutes, pause, seconds } from '../../std/index.ts'
import './pings.ts'
import { WINDOW } from './definition.ts'
import type { CallMeter, GrpcService, Guarded } from './offer.ts'
import { openPort, type PortLimits, type TurnedAway } from './port.ts'
import { type ShelterOptions, shelter } from './shelter.ts'

/** Milliseconds. */
export interface ConnectionAge {
  /** After so long, give or take a tenth, a client is told to go elsewhere with new calls. */
  goaway: number
  /** After so much more the connection is cut, whatever is open. */
  grace: number
}

export interface ServeLimits extends PortLimits {
  /** Calls that are open at once on one connection. */
  calls: number
  /** Milliseconds from the headers of a call to the end of its message, where there is only one. */
  message: number
}

export interface ServeOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  services: GrpcService[]
  /** Without it the connection is plain text: loopback, or behind something that terminates TLS. */
  tls?: ListenerKeys | undefined
  age?: ConnectionAge | undefined
  limits?: Partial<ServeLimits> | undefined
  /** Hears of every connection that was not taken, or was cut off for what it did. */
  onTurnedAway?: ((why: TurnedAway) => void) | undefined
  onCall?: CallMeter | undefined
  clock: Clock
  log: Log
}

export type GrpcServer = Awaited<ReturnType<typeof serveGrpc>>

/** Idle load balancers cut at 60 s, so both sides ping sooner. No message is longer than 4 MiB, also once it is decompressed. */
const CHANNEL = {
  'grpc.keepalive_time_ms': seconds(50),
  'grpc.keepalive_timeout_ms': seconds(20),
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_receive_message_length': 4 * 2 ** 20,
  'grpc.enable_channelz': 0,
} as const

/** Of two hours: GOAWAY after 20 %, the end after 65 % more. In between those who poll end their streams by themselves. */
const AGE: ConnectionAge = { goaway: minutes(24), grace: minutes(78) }

/** An operator has a call open for each project, an agent one for each tunnel. Behind a proxy all agents have one address. */
const LIMITS: ServeLimits = {
  connections: 10_000,
  connectionsPerAddress: 2500,
  handshake: seconds(10),
  headerBytes: 16 * 2 ** 10,
  pingInterval: seconds(20),
  calls: 10_000,
  message: seconds(20),
  resets: { burst: 1000, perSecond: 100 },
}

export async function serveGrpc({ services, age = AGE, log, clock, ...options }: ServeOptions) {
  // The library would print to standard error what we throw anyway.
  setLogVerbosity(logVerbosity.NONE)
  const limits = { ...LIMITS, ...options.limits }
  const server = new Server({
    ...CHANNEL,
    'grpc.max_connection_age_ms': age.goaway,
    'grpc.max_connection_age_grace_ms': age.grace,
    'grpc.max_concurrent_streams': limits.calls,
  })
  const stopping = new AbortController()
  const { onCall = () => () => undefined } = options
  const guarded = new Map<string, Guarded>()
  const guard = (path: string, how: Guarded) => void guarded.set(path, how)
  for (const service of services) service.addTo(server, { guard, stopping: stopping.signal, log, onCall })
  const port = await openPort({
    address: options.address,
    tls: options.tls,
    limits,
    speak: speakerOf(server, limits, { guarded, message: limits.message, onCall, clock, log }),
    onTurnedAway: options.onTurnedAway ?? (() => undefined),
    clock,
  })
  let leaving: Promise<void> | undefined
  const leave = (): Promise<void> => {
    if (leaving) return leaving
    stopping.abort()
    // The library tells the clients; when they have gone it does not know: Node has marked their sessions as closed before it looks.
    server.tryShutdown(() => undefined)
    leaving = port.close()
    return leaving
  }
  return {
    address: port.address,
    /** That are open now. */
    get connections() {
      return port.connections
    },
    /** Takes no more calls, tells clients to go elsewhere and handlers to end; open calls go on until `stop`. */
    leave: (): void => void leave(),
    /** Ends open calls cleanly, waits for them so long, then closes what is left. */
    async stop(grace = seconds(5)): Promise<void> {
      const closed = leave()
      const waiting = new AbortController()
      await Promise.race([closed, pause(clock, grace, waiting.signal)])
      waiting.abort()
      server.forceShutdown()
      port.destroy()
    },
  }
}

/**
 * The library takes connections that somebody else has accepted, but hides the HTTP/2 server with which it answers them, and most
 * of that server's settings. Both are looked up; test/adapters/grpc/canary.test.ts tells when they have moved.
 */
function speakerOf(
  server: Server,
  { headerBytes, resets, calls }: ServeLimits,
  around: ShelterOptions,
): (stream: Duplex) => ServerHttp2Session | undefined {
  Object.assign(
    hidden(server, 'commonServerOptions', (value) => value instanceof Object),
    {
      settings: { maxConcurrentStreams: calls, maxHeaderListSize: headerBytes, initialWindowSize: WINDOW },
      // Where it is not noticed in time that calls are given up, the library below ends the connection.
      streamResetBurst: 2 * resets.burst,
      streamResetRate: 2 * resets.perSecond,
    },
  )
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const servers = hidden(server, 'http2Servers', (value): value is Map<Http2Server, unknown> => value instanceof Map)
  const [http2] = servers.keys()
  if (!http2) throw moved('http2Servers')
  shelter(http2, around)
  return (stream) => {
    let session: ServerHttp2Session | undefined
    const met = (one: ServerHttp2Session) => {
      session = one
      one.setLocalWindowSize(WINDOW)
    }
    http2.once('session', met)
    injector.injectConnection(stream)
    http2.off('session', met)
    return session
  }
}

function hidden<T>(server: Server, name: string, is: (value: unknown) => value is T): T {
  const value: unknown = Reflect.get(server, name)
  if (is(value)) return value
  throw moved(name)
}

const moved = (name: string) => new Failure('internal', `the gRPC library no longer has "${name}" where it is looked for`)
