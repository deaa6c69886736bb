import { createSigner, createVerifier } from '../adapters/auth/index.ts'
import { readOptional, tokenOf } from '../adapters/files/index.ts'
import {
  addressesBehind,
  dial,
  type GrpcServer,
  isOwnAddress,
  offerRaw,
  type ServeOptions,
  serveGrpc,
} from '../adapters/grpc/index.ts'
import { createTunnels } from '../engines/tunnel/index.ts'
import { CONNECT_PORT, MAKE_REQUEST } from '../rpc/index.ts'
import { type Clock, seconds } from '../std/index.ts'
import type { KasConfig } from './config.ts'
import type { RouteMeters } from './ports/meters.ts'
import type { AgentGate, AgentRoll, WorkspaceGate } from './ports/ports.ts'
import { createReverseTunnelService } from './reverse-tunnel/index.ts'
import {
  answerCensus,
  type Connected,
  type ConnectionNews,
  channelOf,
  createCensus,
  createGateway,
  createPeerRegistry,
  createRedisRegistry,
  createRouter,
} from './routing/index.ts'
import { sharedSecret } from './tokens/shared-secret.ts'

interface RoutesOptions extends Pick<ServeOptions, 'tls' | 'onTurnedAway' | 'clock' | 'log'> {
  config: Pick<KasConfig, 'privateApi' | 'privateApiSecret' | 'peers' | 'peersCa' | 'agentWait' | 'streamAge'> &
    Partial<Pick<KasConfig, 'redis'>>
  agentGate: AgentGate
  workspaceGate: WorkspaceGate
  roll: Pick<AgentRoll, 'tunnel'>
  connected: Connected
  meters: RouteMeters
}

/** The ways to agents, and to pods of workspaces. */
export type AgentRoutes = Awaited<ReturnType<typeof createRoutes>>

/** The methods that agents and pods of workspaces answer. */
const ROUTABLE = [MAKE_REQUEST, CONNECT_PORT]
/** A kas cancels what another one was faster with: thousands of resets in a second are no attack here. */
const AMONG_KAS = { resets: { burst: 100_000, perSecond: 10_000 } }
/** Both the issuer and the audience of what kas show each other. */
const KAS = 'gitlab-kas'
/** A kas that comes back is found again so soon. Milliseconds. */
const RECONNECT = seconds(1)

export async function createRoutes(options: RoutesOptions) {
  const { config, agentGate, workspaceGate, roll, connected, tls, meters, onTurnedAway, clock, log } = options
  let tell: (agentId: bigint, isHere: boolean) => void = () => undefined
  const tunnels = createTunnels({ clock, onRefused: () => meters.limited('tunnels'), onAgent: (...news) => tell(...news) })
  const secret =
    config.privateApiSecret === undefined ? undefined : await sharedSecret(config.privateApiSecret, '--private-api-secret')
  const ca = await readOptional(config.peersCa, '--peers-ca')
  const redis = await redisOf(config, clock)
  const jwt = secret && { secret, issuer: KAS, audience: KAS, clock }
  let gateway: GrpcServer | undefined
  if (jwt) {
    const verify = createVerifier(jwt)
    const services = [
      offerRaw(ROUTABLE, createGateway({ tunnels, verify, onAsked: meters.asked })),
      answerCensus(connected, verify),
    ]
    gateway = await serveGrpc({ address: config.privateApi, tls, services, limits: AMONG_KAS, onTurnedAway, clock, log })
  }
  const own = gateway?.address
  const names = createPeerRegistry({
    peers: config.peers,
    resolve: addressesBehind,
    isSelf: (url) => own !== undefined && isOwnAddress(url, own),
    clock,
    log,
  })
  const registry = redis && createRedisRegistry({ names, ...redis, onFailed: meters.redisFailed, clock, log })
  if (registry) {
    tell = registry.tell
    meters.watchRedis(() => registry.isUp)
  }
  const peers = registry ?? names
  const token = jwt && createSigner(jwt)
  const dialKas = (address: string) =>
    dial({ address, token, ca, serverName: nameIn(peers.peerOf(address)), reconnectWithin: RECONNECT })
  const router = createRouter({
    tunnels,
    peers,
    dial: dialKas,
    patience: config.agentWait,
    onRouted: meters.routed,
    onPeerFailed: meters.peerFailed,
    clock,
    log,
  })
  meters.watch(
    () => tunnels.count,
    () => peers.size,
  )
  return {
    router,
    census: createCensus({ connected, peers, dial: dialKas, log }),
    /** For the listener of agents. */
    service: createReverseTunnelService({ gate: agentGate, workspaces: workspaceGate, tunnels, roll, maxAge: config.streamAge }),
    /** Address of the private endpoint, when it is on. */
    privateApi: own,
    /** Lets no other kas in any more, and waits so many milliseconds for the requests that they have here. */
    drain: async (grace: number) => gateway?.stop(grace),
    async stop() {
      await peers.stop()
      router.stop()
      await gateway?.stop()
    },
  }
}

/** How to connect to the Redis that the settings name; its files are read before anything is served. */
async function redisOf({ redis }: RoutesOptions['config'], clock: Clock) {
  if (!redis) return
  const { url, user, prefix } = redis
  const ca = await readOptional(redis.ca, '--redis-ca')
  const password = redis.password === undefined ? undefined : tokenOf(redis.password, '--redis-password')
  // Told at the start, and not only in the log when it is wanted.
  await password?.()
  // Its library is large, and most kas have no Redis.
  const { openRedis } = await import('../adapters/redis/index.ts')
  const access = { url, user, password, ca, channel: channelOf(prefix), clock }
  return { prefix, connect: (told: ConnectionNews) => openRedis({ ...access, ...told }) }
}

/** The name of a host that was written in the settings. */
const nameIn = (url: string | undefined): string | undefined => url?.replace(/^\w+:\/\//, '').replace(/:\d+$/, '')
