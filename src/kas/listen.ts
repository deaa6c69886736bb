import { readFile } from 'node:fs/promises'
import { type GrpcServer, type Service, serveGrpc } from '../adapters/grpc/index.ts'
import { Failure, type Log, Secret, systemClock } from '../std/index.ts'
import { AGES, type Config } from './config.ts'
import type { Meters } from './meters.ts'

/** Serves agents and the operator; connections and those that were turned away are counted. */
export async function listen(config: Config, services: Service[], meters: Meters, log: Log): Promise<GrpcServer> {
  const { listen: address, maxConnectionAge: age } = config
  const server = await serveGrpc({
    address,
    tls: await keysOf(config.tls),
    age: { goaway: Math.round(age * AGES.goaway), grace: Math.round(age * AGES.grace) },
    limits: {
      connections: config.maxConnections,
      connectionsPerAddress: config.maxConnectionsPerAddress,
      handshake: config.handshakeTimeout,
    },
    onTurnedAway: meters.turnedAway,
    onCall: meters.called,
    services,
    clock: systemClock,
    log,
  })
  meters.connected(() => server.connections)
  return server
}

/** As the listeners want it; all of them show the same certificate. */
export const keysOf = async (tls: Config['tls']) =>
  tls && {
    certificate: await pem(tls.certificate, '--tls-cert'),
    key: new Secret<Uint8Array>(await pem(tls.key, '--tls-key')),
  }

/** What is in the PEM file of that flag. */
export async function pem(file: string, flag: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (thrown) {
    throw new Failure('not-found', `cannot read ${file}`, {
      cause: thrown,
      remedy: `Name a PEM file with ${flag}.`,
    })
  }
}
