import { create } from '@bufbuild/protobuf'
import {
  type Call,
  type DialOptions,
  dial,
  type GrpcConnection,
  type GrpcServer,
  type GrpcService,
  offer,
  offerRaw,
  type ServeOptions,
  serveGrpc,
} from '../../../src/adapters/grpc/index.ts'
import { AgentRegistrar, RegisterRequestSchema, RegisterResponseSchema } from '../../../src/rpc/generated/agent_registrar_pb.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'

export interface EchoServer extends GrpcServer {
  /** What turned connections away, in order. */
  readonly turnedAway: string[]
  /** The calls that came, in order. */
  readonly calls: Call[]
}

/** Sends back what comes to /x.Echo/Echo, and knows AgentRegistrar/Register. */
export async function echoServer({
  more = [],
  ...options
}: Partial<ServeOptions> & { more?: GrpcService[] } = {}): Promise<EchoServer> {
  const turnedAway: string[] = []
  const calls: Call[] = []
  const echo = offerRaw(['/x.Echo/Echo'], async function* (requests, call) {
    calls.push(call)
    call.accept()
    yield* requests
  })
  const registrar = offer(AgentRegistrar, {
    async register(_request, call) {
      calls.push(call)
      return create(RegisterResponseSchema)
    },
  })
  const server = await serveGrpc({
    address: '127.0.0.1:0',
    services: [echo, registrar, ...more],
    onTurnedAway: (why) => turnedAway.push(why),
    clock: systemClock,
    log: silentLog,
    ...options,
  })
  return {
    address: server.address,
    get connections() {
      return server.connections
    },
    leave: server.leave,
    stop: server.stop,
    turnedAway,
    calls,
  }
}

export const register = (connection: GrpcConnection): Promise<unknown> =>
  connection.unary(AgentRegistrar.method.register, create(RegisterRequestSchema, { podId: 7n }))

/** One call on a connection of its own. */
export async function registerOnce(options: DialOptions): Promise<void> {
  const connection = dial(options)
  try {
    await register(connection)
  } finally {
    connection.close()
  }
}
