import { PROTOCOLS, type Protocol } from '../adapters/git/index.ts'
import { Failure, type LogLevel, seconds } from '../std/index.ts'

export interface Config {
  /** --kubeconfig FILE, else KUBECONFIG, the pod's service account, ~/.kube/config. */
  kubeconfig: string | undefined
  /** --context NAME: of the kubeconfig. */
  context: string | undefined
  /** --namespace NS, BERTH_WATCH_NAMESPACE: know the GitProjects and Agents of one namespace only; all without it. */
  namespace: string | undefined
  /** --listen HOST:PORT, BERTH_LISTEN: gRPC, for agents and the operator. Port 0 lets the kernel choose. */
  listen: string
  /** --operations HOST:PORT, BERTH_OPERATIONS: /livez, /readyz and /metrics. */
  operations: string
  /** --webhooks HOST:PORT, BERTH_WEBHOOKS: where Git servers tell of pushes. */
  webhooks: string
  /** --git-credentials HOST:PORT, BERTH_GIT_CREDENTIALS: where pods of workspaces ask for Git credentials. */
  gitCredentials: string
  /** --api-url URL, BERTH_API_URL: how people and targets call this cluster's API; by it, pods of the own cluster are known. */
  apiUrl: string | undefined
  /** --refuse-local-targets, BERTH_REFUSE_LOCAL_TARGETS=true: clusters of workspaces are not asked on loopback or private addresses, the own one excepted. */
  refuseLocalTargets: boolean
  /** --kubernetes-api HOST:PORT, BERTH_KUBERNETES_API: where people and jobs reach the clusters of agents. */
  kubernetesApi: string
  /** --visits-per-second N, BERTH_VISITS_PER_SECOND: of one person, over all agents; for a moment ten times as many. */
  visitsPerSecond: number
  /** --session-grace SECONDS, BERTH_SESSION_GRACE: how long their sessions go on when kas ends. In milliseconds here. */
  sessionGrace: number
  /** --listen-grace SECONDS, BERTH_LISTEN_GRACE: how long kas takes new requests when it is to end, until load balancers know. In milliseconds here. */
  listenGrace: number
  /** --agent-calls N, BERTH_AGENT_CALLS: calls and streams that one token of an agent may open in a minute. */
  agentCalls: number
  /** --lease-namespace NS, BERTH_NAMESPACE: where each kas has a Lease that shows the others that it lives. */
  leaseNamespace: string
  /** --identity NAME, POD_NAME: the beginning of the name of that Lease. */
  identity: string | undefined
  /** --api HOST:PORT, BERTH_API: where who knows the secret asks for agents and tells of pushes. Off without --api-secret. */
  api: string
  /** --api-secret FILE, BERTH_API_SECRET: base64 of at least 32 bytes, which those who ask have too. */
  apiSecret: string | undefined
  /** --private-api HOST:PORT, BERTH_PRIVATE_API: where other kas ask for tunnels. Off without --private-api-secret. */
  privateApi: string
  /** --private-api-secret FILE, BERTH_PRIVATE_API_SECRET: base64 of at least 32 bytes, the same for all kas. */
  privateApiSecret: string | undefined
  /**
   * --peers URLS, BERTH_PEERS: the private endpoints of the other kas, such as grpcs://kas-peers:8155. A name may stand for several
   * addresses; one that leads back to this kas is left out.
   */
  peers: string[]
  /** --peers-ca FILE, BERTH_PEERS_CA: PEM of the authorities that the certificates of peers are checked by, instead of the system's. */
  peersCa: string | undefined
  /** --agent-wait SECONDS, BERTH_AGENT_WAIT: how long a request waits for its agent to connect. In milliseconds here. */
  agentWait: number
  /** --data-dir DIR, BERTH_DATA_DIR: mirrors of repositories; can be lost at any time. One running kas per folder. */
  dataDir: string
  /** --tls-cert FILE and --tls-key FILE, BERTH_TLS_CERT, BERTH_TLS_KEY: PEM; plain text without them. */
  tls: { certificate: string; key: string } | undefined
  /** --operator NAMESPACE/NAME, BERTH_OPERATOR: the service account that may ask on behalf of namespaces. */
  operator: { namespace: string; name: string }
  /** --proxy NAMESPACE/NAME, BERTH_PROXY: the service account that may reach ports of workspaces through the tunnels of their pods. */
  proxy: { namespace: string; name: string }
  /** --audience NAME, BERTH_AUDIENCE: for which service account tokens must have been issued. */
  audience: string
  /** --protocols https,http,ssh, BERTH_GIT_PROTOCOLS: which repositories may be fetched. */
  protocols: Protocol[]
  /** --git-processes N, BERTH_GIT_PROCESSES: how many ask Git servers at once; as many more read mirrors. */
  gitProcesses: number
  /** --addresses public,private,loopback, BERTH_GIT_ADDRESSES: which kinds of addresses Git servers may have. Link-local ones never. */
  addresses: ('public' | 'private' | 'loopback')[]
  /** --hosts NAMES, BERTH_GIT_HOSTS: hosts of Git servers, by name or `*.example.com`; all without it. */
  hosts: string[] | undefined
  /** --devfile-hosts NAMES, BERTH_DEVFILE_HOSTS: where parents of devfiles may be, as `name`, `*.example.com` or `name:port`; nowhere without it. */
  devfileHosts: string[]
  /** --devfile-ca FILE, BERTH_DEVFILE_CA: PEM of the authorities that these hosts are checked by, instead of the system's. */
  devfileCa: string | undefined
  /** --max-repository-size MIB, BERTH_MAX_REPOSITORY_SIZE: of one mirror. In bytes here. */
  maxRepositorySize: number
  /** --max-data-size MIB, BERTH_MAX_DATA_SIZE: of all mirrors. In bytes here. */
  maxDataSize: number
  /** --max-files N, BERTH_MAX_FILES: files under the folders of one request. */
  maxFiles: number
  /** --max-file-size MIB, BERTH_MAX_FILE_SIZE: of one file in an answer. In bytes here. */
  maxFileSize: number
  /** --max-total-size MIB, BERTH_MAX_TOTAL_SIZE: of all files in an answer; at most 200. In bytes here. */
  maxTotalSize: number
  /** --max-paths N, BERTH_MAX_PATHS: path patterns in one request. */
  maxPaths: number
  /** --max-connection-age SECONDS, BERTH_MAX_CONNECTION_AGE: of a client's connection, with all it has open. In milliseconds here. */
  maxConnectionAge: number
  /** --max-connections N, BERTH_MAX_CONNECTIONS: of clients at once. */
  maxConnections: number
  /** --max-connections-per-address N, BERTH_MAX_CONNECTIONS_PER_ADDRESS: behind a proxy all clients have one address. */
  maxConnectionsPerAddress: number
  /** --handshake-timeout SECONDS, BERTH_HANDSHAKE_TIMEOUT: for TLS, the request for a WebSocket and the first settings of HTTP/2. In milliseconds here. */
  handshakeTimeout: number
  /** --stream-age SECONDS, BERTH_STREAM_AGE: age at which idle streams end cleanly, before a load balancer cuts them; 30 % of the age of connections. In milliseconds here. */
  streamAge: number
  /** PATH and the proxy variables: all that git gets of the program's environment. */
  environment: Record<string, string>
  /** --log-level debug|info|warn|error, BERTH_LOG_LEVEL */
  logLevel: LogLevel
}

export type Flags = Partial<Record<keyof Config | 'tlsCert' | 'tlsKey', string | boolean>>

/** Loopback is for what runs on one machine; in a cluster it is better left out. */
const ADDRESSES = ['public', 'private', 'loopback'] as const
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']
const INHERITED = [
  'PATH',
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'NO_PROXY',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

/** Flags win over variables, variables over defaults. Errors name the setting. */
export function parseConfig(flags: Flags, env: Record<string, string | undefined>): Config {
  const text = (flag: keyof Flags, variable?: string): string | undefined => {
    const given = flags[flag]
    return typeof given === 'string' ? given : (variable && env[variable]) || undefined
  }
  return {
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    namespace: text('namespace', 'BERTH_WATCH_NAMESPACE'),
    listen: address(text('listen', 'BERTH_LISTEN') ?? '127.0.0.1:8150', '--listen'),
    operations: address(text('operations', 'BERTH_OPERATIONS') ?? '127.0.0.1:8151', '--operations'),
    webhooks: address(text('webhooks', 'BERTH_WEBHOOKS') ?? '127.0.0.1:8152', '--webhooks'),
    gitCredentials: address(text('gitCredentials', 'BERTH_GIT_CREDENTIALS') ?? '127.0.0.1:8156', '--git-credentials'),
    apiUrl: text('apiUrl', 'BERTH_API_URL'),
    refuseLocalTargets: flags.refuseLocalTargets === true || isOn(env, 'BERTH_REFUSE_LOCAL_TARGETS'),
    kubernetesApi: address(text('kubernetesApi', 'BERTH_KUBERNETES_API') ?? '127.0.0.1:8154', '--kubernetes-api'),
    visitsPerSecond: count(text('visitsPerSecond', 'BERTH_VISITS_PER_SECOND') ?? '200', '--visits-per-second'),
    sessionGrace: seconds(count(text('sessionGrace', 'BERTH_SESSION_GRACE') ?? '3600', '--session-grace')),
    listenGrace: seconds(count(text('listenGrace', 'BERTH_LISTEN_GRACE') ?? '0', '--listen-grace', { least: 0, most: 300 })),
    agentCalls: count(text('agentCalls', 'BERTH_AGENT_CALLS') ?? '40000', '--agent-calls'),
    leaseNamespace: text('leaseNamespace', 'BERTH_NAMESPACE') ?? 'berth-system',
    identity: text('identity', 'POD_NAME'),
    ...externalEndpoint(text),
    ...privateEndpoint(text),
    agentWait: seconds(count(text('agentWait', 'BERTH_AGENT_WAIT') ?? '20', '--agent-wait')),
    dataDir: text('dataDir', 'BERTH_DATA_DIR') ?? '.berth/kas',
    tls: tls(text('tlsCert', 'BERTH_TLS_CERT'), text('tlsKey', 'BERTH_TLS_KEY')),
    operator: serviceAccount(text('operator', 'BERTH_OPERATOR') ?? 'berth-system/berth-operator', '--operator'),
    proxy: serviceAccount(text('proxy', 'BERTH_PROXY') ?? 'berth-system/berth-proxy', '--proxy'),
    audience: text('audience', 'BERTH_AUDIENCE') ?? 'berth-kas',
    protocols: protocols(text('protocols', 'BERTH_GIT_PROTOCOLS') ?? PROTOCOLS.join()),
    gitProcesses: count(text('gitProcesses', 'BERTH_GIT_PROCESSES') ?? '8', '--git-processes'),
    addresses: addresses(text('addresses', 'BERTH_GIT_ADDRESSES') ?? ADDRESSES.join(',')),
    hosts: hosts(text('hosts', 'BERTH_GIT_HOSTS')),
    devfileHosts: devfileHosts(text('devfileHosts', 'BERTH_DEVFILE_HOSTS')),
    devfileCa: text('devfileCa', 'BERTH_DEVFILE_CA'),
    maxRepositorySize: mebibytes(text('maxRepositorySize', 'BERTH_MAX_REPOSITORY_SIZE') ?? '2048', '--max-repository-size'),
    maxDataSize: mebibytes(text('maxDataSize', 'BERTH_MAX_DATA_SIZE') ?? '8192', '--max-data-size'),
    maxFiles: count(text('maxFiles', 'BERTH_MAX_FILES') ?? '50000', '--max-files'),
    maxFileSize: mebibytes(text('maxFileSize', 'BERTH_MAX_FILE_SIZE') ?? '5', '--max-file-size'),
    maxTotalSize: mebibytes(text('maxTotalSize', 'BERTH_MAX_TOTAL_SIZE') ?? '100', '--max-total-size', 200),
    maxPaths: count(text('maxPaths', 'BERTH_MAX_PATHS') ?? '100', '--max-paths'),
    ...ages(text('maxConnectionAge', 'BERTH_MAX_CONNECTION_AGE') ?? '7200', text('streamAge', 'BERTH_STREAM_AGE')),
    maxConnections: count(text('maxConnections', 'BERTH_MAX_CONNECTIONS') ?? '10000', '--max-connections'),
    maxConnectionsPerAddress: count(
      text('maxConnectionsPerAddress', 'BERTH_MAX_CONNECTIONS_PER_ADDRESS') ?? '2500',
      '--max-connections-per-address',
    ),
    handshakeTimeout: seconds(
      count(text('handshakeTimeout', 'BERTH_HANDSHAKE_TIMEOUT') ?? '10', '--handshake-timeout', { most: 300 }),
    ),
    environment: Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    logLevel: level(text('logLevel', 'BERTH_LOG_LEVEL') ?? 'info'),
  }
}

const wrong = (flag: string, given: string, remedy: string) => new Failure('invalid', `${flag} is "${given}"`, { remedy })

function address(given: string, flag: string): string {
  if (/^\S+:\d{1,5}$/.test(given)) return given
  throw wrong(flag, given, `Write it like ${flag} 127.0.0.1:8150.`)
}

/** What is neither is refused, as the operator does. */
function isOn(env: Record<string, string | undefined>, variable: string): boolean {
  const given = env[variable]
  if (given === undefined || given === '' || given === 'false') return false
  if (given === 'true') return true
  throw new Failure('invalid', `${variable} is "${given}"`, { remedy: 'Write true or false.' })
}

type Text = (flag: keyof Flags, variable?: string) => string | undefined

function externalEndpoint(text: Text): Pick<Config, 'api' | 'apiSecret'> {
  const api = text('api', 'BERTH_API')
  const apiSecret = text('apiSecret', 'BERTH_API_SECRET')
  if (api && !apiSecret)
    throw wrong('--api-secret', '', 'Give --api-secret too: kas must know by what to tell who may ask there.')
  return { api: address(api ?? '127.0.0.1:8153', '--api'), apiSecret }
}

function privateEndpoint(text: Text): Pick<Config, 'privateApi' | 'privateApiSecret' | 'peers' | 'peersCa'> {
  const privateApiSecret = text('privateApiSecret', 'BERTH_PRIVATE_API_SECRET')
  const peers = text('peers', 'BERTH_PEERS')
  if (peers && !privateApiSecret)
    throw wrong('--private-api-secret', '', 'Give --private-api-secret too: kas must prove to its peers that it is one of them.')
  const privateApi = address(text('privateApi', 'BERTH_PRIVATE_API') ?? '127.0.0.1:8155', '--private-api')
  const peersCa = text('peersCa', 'BERTH_PEERS_CA')
  const all = peers?.split(',').map(peer) ?? []
  if (peersCa && !all.some((url) => url.startsWith('grpcs:')))
    throw wrong('--peers-ca', peersCa, 'Name peers with grpcs:// in --peers: without TLS no certificate is looked at.')
  return { privateApi, privateApiSecret, peers: all, peersCa }
}

function peer(given: string): string {
  const url = given.trim()
  if (/^grpcs?:\/\/[^\s/,@]+:\d{1,5}$/.test(url)) return url
  throw wrong('--peers', given, 'Write it like grpc://kas-1.kas:8155 or grpcs://kas-peers:8155, with commas between.')
}

function tls(certificate: string | undefined, key: string | undefined): Config['tls'] {
  if (certificate && key) return { certificate, key }
  if (!certificate && !key) return undefined
  throw wrong(key ? '--tls-cert' : '--tls-key', '', 'Give --tls-cert and --tls-key together, or neither.')
}

function serviceAccount(given: string, flag: string): Config['operator'] {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(given) ?? []
  if (!namespace || !name) throw wrong(flag, given, `Write it like ${flag} berth-system/berth-operator.`)
  return { namespace, name }
}

function protocols(given: string): Config['protocols'] {
  return given.split(',').map((name) => {
    const protocol = PROTOCOLS.find((known) => known === name)
    if (protocol) return protocol
    throw wrong('--protocols', given, 'Write https, http, ssh, or several of them with commas between.')
  })
}

function count(given: string, flag: string, { least = 1, most = Number.MAX_SAFE_INTEGER } = {}): number {
  const number = Number(given)
  if (Number.isSafeInteger(number) && number >= least && number <= most) return number
  throw wrong(flag, given, `Write a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}.`)
}

/** When a connection is as old as this part of its age, clients are told to open another, and idle streams end; at 85 % it is cut. */
export const AGES = { goaway: 0.2, streams: 0.3, grace: 0.65 } as const

function ages(connection: string, stream: string | undefined): Pick<Config, 'maxConnectionAge' | 'streamAge'> {
  // Shorter, and clients would do little else than connect.
  const maxConnectionAge = seconds(count(connection, '--max-connection-age', { most: 7 * 86_400 }))
  if (maxConnectionAge < seconds(10)) throw wrong('--max-connection-age', connection, 'Write at least 10 seconds.')
  if (stream === undefined) return { maxConnectionAge, streamAge: Math.round(maxConnectionAge * AGES.streams) }
  const streamAge = seconds(count(stream, '--stream-age'))
  // A twentieth of it is chance.
  const longest = (maxConnectionAge * (AGES.goaway + AGES.grace)) / 1.05
  if (streamAge <= longest) return { maxConnectionAge, streamAge }
  throw wrong('--stream-age', stream, `Write at most ${Math.floor(longest / 1000)}, or connections end before their streams do.`)
}

const mebibytes = (given: string, flag: string, most = Number.MAX_SAFE_INTEGER): number => count(given, flag, { most }) * 2 ** 20

function addresses(given: string): Config['addresses'] {
  return given.split(',').map((name) => {
    const kind = ADDRESSES.find((one) => one === name.trim())
    if (kind) return kind
    throw wrong('--addresses', given, `Write one or more of ${ADDRESSES.join(', ')} with commas between.`)
  })
}

const HOST = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$|^[0-9a-f:]+$/

const devfileHosts = (given: string | undefined): string[] =>
  (given?.split(',') ?? []).map((name) => {
    const [, host = '', port = ''] = /^(.*?)(:\d{1,5})?$/.exec(name.trim().toLowerCase()) ?? []
    if (HOST.test(host) && !host.includes(':')) return host + port
    throw wrong('--devfile-hosts', given ?? '', 'Write names of hosts, *.example.com or name:port, with commas between.')
  })

function hosts(given: string | undefined): string[] | undefined {
  return given?.split(',').map((name) => {
    const host = name.trim().toLowerCase()
    if (HOST.test(host)) return host
    throw wrong('--hosts', given, 'Write names of hosts, or *.example.com, with commas between.')
  })
}

function level(given: string): LogLevel {
  const found = LEVELS.find((name) => name === given)
  if (found) return found
  throw wrong('--log-level', given, `Use one of ${LEVELS.join(', ')}.`)
}
