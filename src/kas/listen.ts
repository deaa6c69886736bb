import { type GrpcServer, type Service, serveGrpc } from '../adapters/grpc/index.ts'
import { type ListenerKeys, type Log, systemClock } from '../std/index.ts'
import { AGES, type Config } from './config.ts'
import type { Meters } from './meters.ts'

export interface Listening {
  services: Service[]
  tls: ListenerKeys | undefined
  meters: Meters
  log: Log
}

/** Serves agents and the operator; connections and those that were turned away are counted. */
export async function listen(config: Config, { services, tls, meters, log }: Listening): Promise<GrpcServer> {
  const { listen: address, maxConnectionAge: age } = config
  const server = await serveGrpc({
    address,
    tls,
    age: { goaway: Math.round(age * AGES.goaway), grace: Math.round(age * AGES.grace) },
    limits: {
      connections: config.maxConnections,
      connectionsPerAddress: config.maxConnectionsPerAddress,
      handshake: config.handshakeTimeout,
    },
    onTurnedAway: meters.turnedAway('agents'),
    onCall: meters.called,
    services,
    clock: systemClock,
    log,
  })
  meters.connected(() => server.connections)
  return server
}
