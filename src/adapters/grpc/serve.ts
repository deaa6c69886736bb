import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js'
import { type Clock, Failure, type Log, pause, type Secret, seconds } from '../../std/index.ts'
import type { Service } from './offer.ts'

export interface ServeOptions {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  services: Service[]
  /** Without it the connection is plain text: loopback, or behind something that terminates TLS. */
  tls?: { certificate: Uint8Array; key: Secret<Uint8Array> } | undefined
  clock: Clock
  log: Log
}

export interface GrpcServer {
  readonly address: string
  /** Ends open calls cleanly, waits for them, then closes what is left. */
  stop(grace?: number): Promise<void>
}

/** Idle load balancers cut at 60 s, so both sides ping sooner. The age makes clients spread over new replicas. */
const CHANNEL = {
  'grpc.keepalive_time_ms': seconds(50),
  'grpc.keepalive_timeout_ms': seconds(20),
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_connection_age_ms': seconds(24 * 60),
  'grpc.max_connection_age_grace_ms': seconds(78 * 60),
  'grpc.max_receive_message_length': 4 * 2 ** 20,
} as const

export async function serveGrpc({ address, services, tls, clock, log }: ServeOptions): Promise<GrpcServer> {
  // The library would print to standard error what we throw anyway.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server(CHANNEL)
  const stopping = new AbortController()
  for (const service of services) service.addTo(server, stopping.signal, log)
  const credentials = tls
    ? ServerCredentials.createSsl(null, [
        { cert_chain: Buffer.from(tls.certificate), private_key: Buffer.from(tls.key.reveal()) },
      ])
    : ServerCredentials.createInsecure()
  const port = await bind(server, address, credentials)
  return {
    address: `${address.slice(0, address.lastIndexOf(':'))}:${port}`,
    async stop(grace = seconds(5)) {
      stopping.abort()
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      const waiting = new AbortController()
      await Promise.race([closed, pause(clock, grace, waiting.signal)])
      waiting.abort()
      server.forceShutdown()
    },
  }
}

const bind = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) reject(new Failure('unavailable', `cannot listen on ${address}: ${error.message}`, { cause: error }))
      else resolve(port)
    })
  })
