import { readNamed, tokenOf } from '../../adapters/files/index.ts'
import { dial, openLine } from '../../adapters/grpc/index.ts'
import type { Upstream } from '../../adapters/http/index.ts'
import type { Clock } from '../../std/index.ts'

export interface Tunnels {
  /** A port of the workspace of that UID. */
  to(workspace: string, port: number): Upstream
  stop(): void
}

export interface TunnelsOptions {
  kas: {
    /** As `host:port`, `grpc://…` or `grpcs://…`. */
    address: string
    tokenFile: string
    ca: string | undefined
  }
  clock: Clock
}

/** A name that no resolver knows, so that it is never taken for an address. */
const HOST = 'tunnel.invalid'

export async function createTunnels({ kas, clock }: TunnelsOptions): Promise<Tunnels> {
  const connection = dial({
    address: kas.address,
    token: tokenOf(kas.tokenFile, '--kas-token'),
    ca: kas.ca === undefined ? undefined : await readNamed(kas.ca, '--kas-ca'),
    userAgent: 'berth-proxy',
    everyAddress: true,
  })
  return {
    to: (workspace, port) => ({
      host: `${workspace}.${HOST}`,
      port,
      open: () => openLine(connection, { workspace, port }, clock),
    }),
    stop: () => connection.close(),
  }
}
