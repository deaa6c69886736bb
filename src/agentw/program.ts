import { readOptional, tokenOf } from '../adapters/files/index.ts'
import { dial } from '../adapters/grpc/index.ts'
import { type PoolSize, serveTunnels } from '../engines/tunnel/index.ts'
import { CONNECT_PORT, PORT_KEYS } from '../rpc/index.ts'
import { createLog, minutes, redactUrls, systemClock } from '../std/index.ts'
import type { AgentwConfig } from './config.ts'
import { joinPorts } from './forward.ts'

/** The program writes its log lines there. */
export interface AgentwSurroundings {
  log: { write(line: string): unknown }
  /** Of this build. */
  version?: string
}

/** An idle workspace has one connection and two calls on it. Each connection to a port takes a tunnel while it lasts. */
const SIZE: PoolSize = { idle: 2, step: 4, most: 500, surplus: minutes(1) }

/** Runs until the signal aborts. kas may go away and come back, and its token may be refused for a while: it tries again by itself. */
export async function start(
  config: AgentwConfig,
  signal: AbortSignal,
  { log: out, version = 'v0.0.0' }: AgentwSurroundings,
): Promise<void> {
  const log = createLog(config.logLevel, out).with({ program: 'agentw' })
  const { caCertFile } = config
  const token = tokenOf(config.tokenFile, '--token-file')
  // A file that is not there is told now: later it is waited for, because tokens are exchanged.
  await token()
  const connection = dial({
    address: config.kasAddress,
    token,
    extraCa: await readOptional(caCertFile, '--ca-cert-file'),
    userAgent: `berth-agentw/${version}`,
    everyAddress: true,
  })
  log.info('agentw started', { kas: redactUrls(config.kasAddress), workspace: config.workspace })
  await serveTunnels({
    connection,
    services: new Map([[CONNECT_PORT, joinPorts(systemClock)]]),
    metadata: { [PORT_KEYS.tunnelOf]: [config.workspace] },
    size: SIZE,
    clock: systemClock,
    log,
    signal,
  })
  connection.close()
  log.info('agentw stopped')
}
