import { readOptional, tokenOf } from '../adapters/files/index.ts'
import { dial, openLine } from '../adapters/grpc/index.ts'
import type { Upstream } from '../adapters/http/index.ts'
import type { Clock } from '../std/index.ts'
import type { ProxyConfig } from './config.ts'

/** A name that no resolver knows, so that it is never taken for an address. */
const HOST = 'tunnel.invalid'

/**
 * Opens the way to workspaces that no address leads to: their pods have opened tunnels to kas, and kas is asked for a port. Access is
 * decided before, as for every other workspace.
 */
export async function connectTunnels({ address, tokenFile, ca }: NonNullable<ProxyConfig['kas']>, clock: Clock) {
  const connection = dial({
    address,
    token: tokenOf(tokenFile, '--kas-token'),
    ca: await readOptional(ca, '--kas-ca'),
    userAgent: 'berth-proxy',
    everyAddress: true,
  })
  return {
    /** A port of the workspace of that UID. */
    to: (workspace: string, port: number): Upstream => ({
      host: `${workspace}.${HOST}`,
      port,
      open: () => openLine(connection, { workspace, port }, clock),
    }),
    stop: () => connection.close(),
  }
}
