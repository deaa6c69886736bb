import type { Transfer } from '../adapters/git/index.ts'
import type { TurnedAway } from '../adapters/grpc/index.ts'
import type { Counter, Metrics } from '../adapters/http/index.ts'
import type { Sighting } from './ports.ts'

/** Of gRPC: for agents and the operator, for other kas, and for who asks in a person's name. */
type Listener = 'agents' | 'private' | 'external'

/** What kas counts. Labels have few values: no path, URL or name of a tenant is one. */
export interface Meters {
  looked(milliseconds: number): void
  found(sighting: Sighting): void
  transferred(transfer: Transfer): void
  delivered: Counter
  unchanged: Counter
  answered: Counter
  /** Calls of the external endpoint. */
  asked: Counter
  credentialed: Counter
  /** Connections to ports of workspaces. */
  portConnected: Counter
  /** For one listener; the answer is told of each connection that was not taken or cut off. */
  turnedAway(listener: Listener): (why: TurnedAway) => void
  /** A token of an agent was used for more calls than it may make in a minute. */
  rateExceeded(): void
  /** Too many unknown tokens came from one network. */
  unknownToken(): void
  /** A call of gRPC begins; the answer tells how it ended, in gRPC's word. */
  called(path: string): (code: string) => void
  routes: RouteMeters
  /** These are read when somebody asks for the metrics. */
  connected(read: () => number): void
  agents(read: () => number): void
  watch(read: { waiting: () => number; bytes: () => number }): void
}

/** The ways to agents. */
export interface RouteMeters {
  /** A request has found its agent, or has not. */
  routed(way: 'own' | 'peer' | 'none'): void
  /** Another kas did not answer, by the code of its failure. */
  peerFailed(code: string): void
  /** Another kas has asked for a tunnel. */
  asked(hadTunnel: boolean): void
  /** An agent wanted more than it may have. */
  limited(what: 'tunnels' | 'pods'): void
  watch(read: { tunnels: () => { idle: number; open: number; waiting: number }; peers: () => number }): void
}

export function createMeters(metrics: Metrics): Meters {
  const polls = metrics.counter({ name: 'berth_kas_polls_total', help: 'Polls of repositories by outcome', labels: ['outcome'] })
  const pollTime = metrics.histogram({ name: 'berth_kas_poll_duration_seconds', help: 'How long Git servers took to list refs' })
  const fetches = metrics.counter({
    name: 'berth_kas_fetches_total',
    help: 'Transfers of commits by outcome',
    labels: ['outcome'],
  })
  const fetchTime = metrics.histogram({ name: 'berth_kas_fetch_duration_seconds', help: 'How long transfers took' })
  const fetchBytes = metrics.counter({ name: 'berth_kas_fetched_bytes_total', help: 'Bytes by which mirrors grew' })
  const turnedAway = metrics.counter({
    name: 'berth_kas_connections_refused_total',
    help: 'Connections of clients that were not taken or cut off, by listener and what was wrong',
    labels: ['listener', 'reason'],
  })
  const rateExceeded = metrics.counter({
    name: 'agent_server_rate_exceeded_total',
    help: 'Calls of agents that were refused because there were too many with one token',
  })
  const unknownTokens = metrics.counter({
    name: 'berth_kas_unknown_tokens_refused_total',
    help: 'Calls of gRPC that were refused unasked because too many unknown tokens came from one network',
  })
  return {
    looked: (milliseconds) => pollTime.observe(milliseconds / 1000),
    found: (sighting) => polls.add({ outcome: 'failure' in sighting ? (sighting.failure.reason ?? 'failed') : 'ok' }),
    transferred({ milliseconds, bytes, failure }) {
      fetches.add({ outcome: failure ? (failure.reason ?? 'failed') : 'ok' })
      fetchTime.observe(milliseconds / 1000)
      fetchBytes.add({}, bytes)
    },
    delivered: metrics.counter({ name: 'berth_kas_batches_total', help: 'Batches of objects that were delivered whole' }),
    unchanged: metrics.counter({ name: 'berth_kas_unchanged_total', help: 'New commits in which no chosen file had changed' }),
    answered: metrics.counter({ name: 'berth_kas_webhooks_total', help: 'Webhooks by status of the answer', labels: ['status'] }),
    asked: metrics.counter({
      name: 'berth_kas_external_calls_total',
      help: 'Calls of the external endpoint by outcome',
      labels: ['method', 'outcome'],
    }),
    credentialed: metrics.counter({
      name: 'berth_kas_git_credentials_total',
      help: 'Requests of workspaces for Git credentials by status of the answer',
      labels: ['status'],
    }),
    portConnected: metrics.counter({
      name: 'berth_kas_port_connections_total',
      help: 'Connections to ports of workspaces through the tunnels of their pods, by outcome',
      labels: ['outcome'],
    }),
    turnedAway: (listener) => (why) => turnedAway.add({ listener, reason: why }),
    rateExceeded: () => rateExceeded.add(),
    unknownToken: () => unknownTokens.add(),
    called: createCallMeter(metrics),
    routes: createRouteMeters(metrics),
    agents(read) {
      metrics.gauge({ name: 'connected_agents_count', help: 'Agents of which a pod is connected to this kas', read })
    },
    connected(read) {
      metrics.gauge({ name: 'berth_kas_connections', help: 'Connections of clients that are open', read })
    },
    watch({ waiting, bytes }) {
      metrics.gauge({ name: 'berth_kas_git_queue_length', help: 'Work that waits until fewer git processes run', read: waiting })
      metrics.gauge({ name: 'berth_kas_mirror_bytes', help: 'Bytes of all mirrors on disk', read: bytes })
    },
  }
}

function createRouteMeters(metrics: Metrics): RouteMeters {
  const routed = metrics.counter({
    name: 'berth_kas_routed_requests_total',
    help: 'Requests to agents by whose tunnel they went through: own, peer, or none',
    labels: ['way'],
  })
  const asked = metrics.counter({
    name: 'berth_kas_peer_requests_total',
    help: 'Requests of other kas by whether a tunnel was there at once',
    labels: ['tunnel'],
  })
  const failed = metrics.counter({
    name: 'berth_kas_peer_failures_total',
    help: 'Requests to other kas that failed, by code; unauthorized is another secret or another time',
    labels: ['code'],
  })
  const limited = metrics.counter({
    name: 'berth_kas_agent_limits_total',
    help: 'What agents were refused because they had as many as they may have',
    labels: ['limit'],
  })
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help, read })
  return {
    routed: (way) => routed.add({ way }),
    peerFailed: (code) => failed.add({ code }),
    asked: (hadTunnel) => asked.add({ tunnel: hadTunnel ? 'ready' : 'none' }),
    limited: (limit) => limited.add({ limit }),
    watch({ tunnels, peers }) {
      gauge('berth_kas_tunnels', 'Tunnels that agents have open', () => tunnels().open)
      gauge('berth_kas_idle_tunnels', 'Tunnels that wait for a request', () => tunnels().idle)
      gauge('berth_kas_requests_waiting', 'Requests that wait for a tunnel', () => tunnels().waiting)
      gauge('berth_kas_peers', 'Other kas that are known by their addresses', peers)
    },
  }
}

/** The names are those that gRPC servers commonly have. */
function createCallMeter(metrics: Metrics): Meters['called'] {
  const labels = ['grpc_service', 'grpc_method']
  const started = metrics.counter({ name: 'grpc_server_started_total', help: 'Calls that began', labels })
  const handled = metrics.counter({
    name: 'grpc_server_handled_total',
    help: 'Calls that ended, by code',
    labels: [...labels, 'grpc_code'],
  })
  let open = 0
  metrics.gauge({ name: 'grpc_server_requests_in_flight', help: 'Calls that are open', read: () => open })
  return (path) => {
    const [, service = '', method = ''] = path.split('/')
    const call = { grpc_service: service, grpc_method: method }
    started.add(call)
    open++
    return (code) => {
      open--
      handled.add({ ...call, grpc_code: code })
    }
  }
}
