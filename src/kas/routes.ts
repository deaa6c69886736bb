import { createSigner, createVerifier } from '../adapters/auth/index.ts'
import { dial, type GrpcServer, offerRaw, type Service, serveGrpc } from '../adapters/grpc/index.ts'
import type { Metrics } from '../adapters/http/index.ts'
import { createTunnels, type Tunnels } from '../engines/tunnel/index.ts'
import { MAKE_REQUEST } from '../rpc/index.ts'
import type { Clock, Log } from '../std/index.ts'
import type { Config } from './config.ts'
import type { AgentGate, Router } from './ports.ts'
import { createReverseTunnelService } from './reverse-tunnel/index.ts'
import { createGateway, createPeerRegistry, createRouter, type RegistryHub } from './routing/index.ts'
import { sharedSecret } from './shared-secret.ts'

export interface RoutesOptions {
  config: Pick<Config, 'privateApi' | 'privateApiSecret' | 'peers' | 'agentWait' | 'streamAge'>
  agentGate: AgentGate
  /** PEM, for the private endpoint as for the others. */
  tls: Parameters<typeof serveGrpc>[0]['tls']
  /** Instead of the peers that are named in the settings. */
  hub: RegistryHub | undefined
  metrics: Metrics
  clock: Clock
  log: Log
}

/** The ways to agents. */
export interface Routes {
  router: Router
  /** For the listener of agents. */
  service: Service
  /** Address of the private endpoint, when it is on. */
  privateApi: string | undefined
  stop(): Promise<void>
}

/** What can be asked of agents. */
const ROUTABLE = [MAKE_REQUEST]
/** A kas cancels what another one was faster with: thousands of resets in a second are no attack here. */
const AMONG_KAS = { resets: { burst: 100_000, perSecond: 10_000 } }
/** Both the issuer and the audience of what kas show each other. */
const KAS = 'gitlab-kas'

export async function layRoutes({ config, agentGate, tls, hub, metrics, clock, log }: RoutesOptions): Promise<Routes> {
  const directory = {
    arrived: (agentId: bigint) => registry.register(agentId),
    left: (agentId: bigint) => registry.unregister(agentId),
  }
  const tunnels = createTunnels({ directory, clock })
  const secret =
    config.privateApiSecret === undefined ? undefined : await sharedSecret(config.privateApiSecret, '--private-api-secret')
  const jwt = secret && { secret, issuer: KAS, audience: KAS, clock }
  let gateway: GrpcServer | undefined
  if (jwt) {
    const service = offerRaw(ROUTABLE, createGateway({ tunnels, verify: createVerifier(jwt) }))
    gateway = await serveGrpc({ address: config.privateApi, tls, services: [service], limits: AMONG_KAS, clock, log })
  }
  const url = gateway ? `${tls ? 'grpcs' : 'grpc'}://${gateway.address}` : 'here'
  const registry = hub?.join(url) ?? createPeerRegistry(config.peers)
  const token = jwt && createSigner(jwt)
  const router = createRouter({
    tunnels,
    registry,
    dial: (address) => dial({ address, token }),
    patience: config.agentWait,
    clock,
    log,
  })
  count(tunnels, metrics)
  return {
    router,
    service: createReverseTunnelService({ gate: agentGate, tunnels, maxAge: config.streamAge }),
    privateApi: gateway?.address,
    async stop() {
      tunnels.stop()
      registry.stop()
      router.stop()
      await gateway?.stop()
    },
  }
}

function count(tunnels: Tunnels, metrics: Metrics): void {
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help, read })
  gauge('berth_kas_tunnels', 'Tunnels that agents have open', () => tunnels.count.open)
  gauge('berth_kas_idle_tunnels', 'Tunnels that wait for a request', () => tunnels.count.idle)
  gauge('berth_kas_requests_waiting', 'Requests that wait for a tunnel', () => tunnels.count.waiting)
}
