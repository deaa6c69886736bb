import type { Transfer } from '../../adapters/git/index.ts'
import type { TurnedAway } from '../../adapters/grpc/index.ts'
import type { Metrics } from '../../adapters/http/index.ts'
import type { PollSighting } from './ports.ts'

/** Of gRPC: for agents and the operator, for other kas, and for GitLab and what stands in its place. */
type Listener = 'agents' | 'private' | 'external'

export type KasMeters = ReturnType<typeof createMeters>
export type RouteMeters = KasMeters['routes']

/** The metrics of kas. Labels have few values: no path, URL or name of a tenant is one. */
export function createMeters(metrics: Metrics) {
  const { counter, gauge } = metersOf(metrics)
  const polls = counter('berth_kas_polls_total', 'Polls of repositories by outcome', 'outcome')
  const pollTime = metrics.histogram({ name: 'berth_kas_poll_duration_seconds', help: 'How long Git servers took to list refs' })
  const fetches = counter('berth_kas_fetches_total', 'Transfers of commits by outcome', 'outcome')
  const fetchTime = metrics.histogram({ name: 'berth_kas_fetch_duration_seconds', help: 'How long transfers took' })
  const fetchBytes = counter('berth_kas_fetched_bytes_total', 'Bytes by which mirrors grew')
  const turnedAway = counter(
    'berth_kas_connections_refused_total',
    'Connections of clients that were not taken or cut off, by listener and what was wrong',
    'listener',
    'reason',
  )
  for (const listener of ['agents', 'private', 'external']) turnedAway.add({ listener, reason: 'full' }, 0)
  for (const outcome of ['DataFolderFull', 'DataFolderUnwritable']) fetches.add({ outcome }, 0)
  const rateExceeded = counter(
    'agent_server_rate_exceeded_total',
    'Calls of agents that were refused because there were too many with one token',
  )
  const unknownTokens = counter(
    'berth_kas_unknown_tokens_refused_total',
    'Calls of gRPC that were refused unasked because too many unknown tokens came from one network',
  )
  return {
    looked: (milliseconds: number) => pollTime.observe(milliseconds / 1000),
    found: (sighting: PollSighting) => polls.add({ outcome: outcomeOf(sighting) }),
    transferred({ milliseconds, bytes, ...transfer }: Transfer) {
      fetches.add({ outcome: outcomeOf(transfer) })
      fetchTime.observe(milliseconds / 1000)
      fetchBytes.add({}, bytes)
    },
    delivered: counter('berth_kas_batches_total', 'Batches of objects that were delivered whole'),
    unchanged: counter('berth_kas_unchanged_total', 'New commits in which no chosen file had changed'),
    answered: counter('berth_kas_webhooks_total', 'Webhooks by status of the answer', 'status'),
    asked: counter('berth_kas_external_calls_total', 'Calls of the external endpoint by outcome', 'method', 'outcome'),
    credentialed: counter(
      'berth_kas_git_credentials_total',
      'Requests of workspaces for Git credentials by status of the answer',
      'status',
    ),
    portConnected: counter(
      'berth_kas_port_connections_total',
      'Connections to ports of workspaces through the tunnels of their pods, by outcome',
      'outcome',
    ),
    turnedAway: (listener: Listener) => (reason: TurnedAway) => turnedAway.add({ listener, reason }),
    rateExceeded: () => rateExceeded.add(),
    unknownToken: () => unknownTokens.add(),
    called: createCallMeter(metrics),
    routes: createRouteMeters(metrics),
    // These are read when somebody asks for the metrics.
    agents: (read: () => number) => gauge('connected_agents_count', 'Agents of which a pod is connected to this kas', read),
    connected: (read: () => number) => gauge('berth_kas_connections', 'Connections of clients that are open', read),
    watch({ waiting, bytes, sightings }: { waiting: () => number; bytes: () => number; sightings: () => PollSighting[] }) {
      metrics.gauge({
        name: 'berth_kas_repositories',
        help: 'Repositories, each once for every ref and credential, by the outcome of their last poll',
        labels: ['outcome'],
        read: () =>
          [...Map.groupBy(sightings(), outcomeOf)].map(([outcome, { length }]) => ({ labels: { outcome }, value: length })),
      })
      gauge('berth_kas_git_queue_length', 'Work that waits until fewer git processes run', waiting)
      gauge('berth_kas_mirror_bytes', 'Bytes of all mirrors on disk', bytes)
    },
  }
}

function outcomeOf(told: PollSighting | Pick<Transfer, 'failure'>): string {
  const failure = 'refused' in told ? told.refused : 'failure' in told ? told.failure : undefined
  return failure ? (failure.reason ?? 'failed') : 'ok'
}

export const metersOf = (metrics: Metrics) => ({
  counter: (name: string, help: string, ...labels: string[]) => metrics.counter({ name, help, labels }),
  gauge: (name: string, help: string, read: () => number) => void metrics.gauge({ name, help, read }),
})

/** The ways to agents. */
function createRouteMeters(metrics: Metrics) {
  const { counter, gauge } = metersOf(metrics)
  const routed = counter(
    'berth_kas_routed_requests_total',
    'Requests to agents by whose tunnel they went through: own, peer, or none',
    'way',
  )
  const asked = counter('berth_kas_peer_requests_total', 'Requests of other kas by whether a tunnel was there at once', 'tunnel')
  const failed = counter(
    'berth_kas_peer_failures_total',
    'Requests to other kas that failed, by code; unauthorized is another secret or another time',
    'code',
  )
  failed.add({ code: 'unauthorized' }, 0)
  const redisFailed = counter(
    'berth_kas_redis_failures_total',
    'Attempts to reach Redis or to use it that failed, by reason',
    'reason',
  )
  redisFailed.add({ reason: 'RedisAway' }, 0)
  const limited = counter(
    'berth_kas_agent_limits_total',
    'What agents were refused because they had as many as they may have',
    'limit',
  )
  return {
    routed: (way: 'own' | 'peer' | 'none') => routed.add({ way }),
    peerFailed: (code: string) => failed.add({ code }),
    asked: (hadTunnel: boolean) => asked.add({ tunnel: hadTunnel ? 'ready' : 'none' }),
    limited: (limit: 'tunnels' | 'pods') => limited.add({ limit }),
    redisFailed: (reason: string) => redisFailed.add({ reason }),
    /** Where there is no Redis there is no such metric: 0 is one that is away. */
    watchRedis: (isUp: () => boolean) =>
      gauge('berth_kas_redis_connected', 'Whether this kas is connected to Redis', () => (isUp() ? 1 : 0)),
    watch(tunnels: () => { idle: number; open: number; waiting: number }, peers: () => number) {
      gauge('berth_kas_tunnels', 'Tunnels that agents have open', () => tunnels().open)
      gauge('berth_kas_idle_tunnels', 'Tunnels that wait for a request', () => tunnels().idle)
      gauge('berth_kas_requests_waiting', 'Requests that wait for a tunnel', () => tunnels().waiting)
      gauge('berth_kas_peers', 'Other kas that are known by their addresses', peers)
    },
  }
}

/** The names are those that gRPC servers commonly have. The answer is told how the call ended, in gRPC's word. */
function createCallMeter(metrics: Metrics) {
  const { counter, gauge } = metersOf(metrics)
  const labels = ['grpc_service', 'grpc_method']
  const started = counter('grpc_server_started_total', 'Calls that began', ...labels)
  const handled = counter('grpc_server_handled_total', 'Calls that ended, by code', ...labels, 'grpc_code')
  let open = 0
  gauge('grpc_server_requests_in_flight', 'Calls that are open', () => open)
  return (path: string) => {
    const [, service = '', method = ''] = path.split('/')
    const call = { grpc_service: service, grpc_method: method }
    started.add(call)
    open++
    return (code: string) => {
      open--
      handled.add({ ...call, grpc_code: code })
    }
  }
}
