import { type Duplex, dial, type GrpcConnection, type GrpcServer, offer, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import {
  createTunnels,
  type PoolSize,
  request,
  serveTunnels,
  type Tunnel,
  type TunnelHandler,
  type Tunnels,
} from '../../../src/engines/tunnel/index.ts'
import { ReverseTunnel } from '../../../src/rpc/index.ts'
import { type Clock, hours, silentLog, systemClock } from '../../../src/std/index.ts'
import { eventually } from '../../support/verbs.ts'

export const ECHO = '/x.Echo/Echo'

/** Answers each message with itself. */
export const echo: TunnelHandler = async function* (requests, call) {
  call.accept({ mine: call.metadata.mine ?? [] })
  call.setTrailer({ end: ['yes'] })
  yield* requests
}

export interface Stage {
  readonly server: GrpcServer
  readonly tunnels: Tunnels
  /** Ends what agents may do. */
  readonly revoked: AbortController
  /** Connects an agent that answers these methods. */
  agent(services: Record<string, TunnelHandler>, size?: PoolSize): { leave(): Promise<void> }
  /** A connection for an agent that speaks for itself. */
  connect(): GrpcConnection
  /** A request as soon as there is a tunnel for it. */
  ask(path?: string, options?: Parameters<typeof request>[2]): Promise<Duplex<Uint8Array, Uint8Array>>
  close(): Promise<void>
}

/** Half of a kas, with one agent that has the id 7, on a real connection. */
export async function setStage({ clock = systemClock, age = hours(1) }: { clock?: Clock; age?: number } = {}): Promise<Stage> {
  const tunnels = createTunnels({ clock })
  const revoked = new AbortController()
  const ended = revoked.signal
  const service = offer(ReverseTunnel, {
    connect: (requests, call) => tunnels.accept({ agentId: 7n, ended, age }, requests, call),
  })
  const server = await serveGrpc({ address: '127.0.0.1:0', services: [service], clock: systemClock, log: silentLog })
  const closers: (() => Promise<void>)[] = []
  const connect = () => {
    const connection = dial({ address: server.address })
    closers.push(async () => connection.close())
    return connection
  }
  return {
    server,
    tunnels,
    revoked,
    connect,
    agent(services, size) {
      const leaving = new AbortController()
      const done = serveTunnels({
        connection: connect(),
        services: new Map(Object.entries(services)),
        clock: systemClock,
        log: silentLog,
        signal: leaving.signal,
        ...(size ? { size } : {}),
      })
      const leave = () => {
        leaving.abort()
        return done
      }
      closers.unshift(leave)
      return { leave }
    },
    async ask(path = ECHO, options = {}) {
      const found: Tunnel = await eventually(() => tunnels.take(7n, path))
      return request(found, path, options)
    },
    async close() {
      for (const close of closers) await close()
      await server.stop(0)
    },
  }
}

export const bytes = (text: string): Uint8Array => Buffer.from(text)

export async function textsOf(call: Duplex<Uint8Array, Uint8Array>): Promise<string[]> {
  const texts: string[] = []
  for await (const message of call.responses) texts.push(Buffer.from(message).toString())
  return texts
}

/** The code of gRPC and the text with which a call ends. */
export async function endOf(call: Duplex<Uint8Array, Uint8Array>): Promise<{ code: unknown; reason: unknown; message: string }> {
  try {
    for await (const _ of call.responses);
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown
    const { cause } = thrown
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'code' in thrown ? thrown.code : undefined
    return { code, reason: 'reason' in thrown ? thrown.reason : undefined, message: thrown.message }
  }
  return { code: 0, reason: undefined, message: 'OK' }
}
