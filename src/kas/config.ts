import { PROTOCOLS } from '../adapters/git/index.ts'
import {
  anyText,
  CLUSTER_SETTINGS,
  type EnvironmentVariables,
  type Flags,
  hostAndPort,
  integer,
  logLevel,
  optional,
  readSettings,
  type SettingParser,
  type SettingValues,
  setting,
  TRACE_SETTINGS,
  tlsFiles,
  toggle,
  wholeSeconds,
  wrongSetting,
} from '../std/index.ts'

/** The fallback of --api, which is applied late: only who gives --api has to give a secret, too. */
const API = '127.0.0.1:8153'

const ADDRESSES = ['public', 'private', 'loopback'] as const
const HOST = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$|^[0-9a-f:]+$/

const protocols = listOf(
  (word) => PROTOCOLS.find((known) => known === word),
  'Write https, http, ssh, or several of them with commas between.',
)

const addresses = listOf(
  (word) => ADDRESSES.find((known) => known === word),
  `Write one or more of ${ADDRESSES.join(', ')} with commas between.`,
)

const hosts = listOf((word) => {
  const host = word.toLowerCase()
  return HOST.test(host) ? host : undefined
}, 'Write names of hosts, or *.example.com, with commas between.')

const devfileHosts = listOf((word) => {
  const [, host = '', port = ''] = /^(.*?)(:\d{1,5})?$/.exec(word.toLowerCase()) ?? []
  return HOST.test(host) && !host.includes(':') ? host + port : undefined
}, 'Write names of hosts, *.example.com or name:port, with commas between.')

const peerUrls = listOf(
  (url) => (/^grpcs?:\/\/[^\s/,@]+:\d{1,5}$/.test(url) ? url : undefined),
  'Write it like grpc://kas-1.kas:8155 or grpcs://kas-peers:8155, with commas between.',
)

function redisUrl(given: string, flag: string): string {
  if (/^rediss?:\/\/[^\s/,@?#]+(\/\d{1,4})?$/.test(given) && URL.canParse(given)) return given
  const remedy = 'Write it like redis://redis:6379 or, with TLS, rediss://redis:6379/1; the password goes into a file.'
  // Whoever has written a password into it is not to find that in a log.
  throw wrongSetting(flag, given.includes('@') ? '***' : given, remedy)
}

function keyPrefix(given: string, flag: string): string {
  if (/^[A-Za-z0-9_.:-]{1,64}$/.test(given)) return given
  throw wrongSetting(flag, given, 'Write at most 64 letters, digits, dots, colons, dashes and underscores.')
}

/** All that kas can be told. Times are milliseconds in its Config, and sizes bytes. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const SETTINGS = {
  ...CLUSTER_SETTINGS,
  namespace: optional('--namespace <name>', 'BERTH_WATCH_NAMESPACE', anyText,
    'know the GitProjects and Agents of one namespace only'),

  listen: setting('--listen <host:port>', 'BERTH_LISTEN', hostAndPort, '127.0.0.1:8150',
    'gRPC, for agents and the operator'),
  operations: setting('--operations <host:port>', 'BERTH_OPERATIONS', hostAndPort, '127.0.0.1:8151',
    '/livez, /readyz, /metrics'),
  webhooks: setting('--webhooks <host:port>', 'BERTH_WEBHOOKS', hostAndPort, '127.0.0.1:8152',
    'where Git servers tell of pushes'),
  gitCredentials: setting('--git-credentials <host:port>', 'BERTH_GIT_CREDENTIALS', hostAndPort, '127.0.0.1:8156',
    'where pods of workspaces ask for Git credentials'),
  tlsCert: optional('--tls-cert <file>', 'BERTH_TLS_CERT', anyText,
    'certificate, PEM; plain text without it'),
  tlsKey: optional('--tls-key <file>', 'BERTH_TLS_KEY', anyText,
    'key of the certificate, PEM'),

  dataDir: setting('--data-dir <folder>', 'BERTH_DATA_DIR', anyText, '.berth/kas',
    'mirrors of repositories, for one running kas; can be lost at any time'),
  protocols: setting('--protocols <list>', 'BERTH_GIT_PROTOCOLS', protocols, PROTOCOLS.join(','),
    'which repositories may be fetched'),
  // Loopback is for what runs on one machine; in a cluster it is better left out.
  addresses: setting('--addresses <list>', 'BERTH_GIT_ADDRESSES', addresses, ADDRESSES.join(','),
    'which addresses Git servers may have; link-local ones never'),
  hosts: optional('--hosts <list>', 'BERTH_GIT_HOSTS', hosts,
    'hosts of Git servers, such as *.example.com (default: all)'),
  gitProcesses: setting('--git-processes <number>', 'BERTH_GIT_PROCESSES', integer(), '8',
    'how many ask Git servers at once; as many more read mirrors'),
  maxRepositorySize: setting('--max-repository-size <MiB>', 'BERTH_MAX_REPOSITORY_SIZE', mebibytes(), '2048',
    'of one mirror'),
  maxDataSize: setting('--max-data-size <MiB>', 'BERTH_MAX_DATA_SIZE', mebibytes(), '8192',
    'of all mirrors'),
  maxFiles: setting('--max-files <number>', 'BERTH_MAX_FILES', integer(), '50000',
    'files in one answer'),
  maxFileSize: setting('--max-file-size <MiB>', 'BERTH_MAX_FILE_SIZE', mebibytes(), '5',
    'of one file in an answer'),
  maxTotalSize: setting('--max-total-size <MiB>', 'BERTH_MAX_TOTAL_SIZE', mebibytes(200), '100',
    'of all files in an answer; at most 200'),
  maxPaths: setting('--max-paths <number>', 'BERTH_MAX_PATHS', integer(), '100',
    'path patterns in one request'),
  devfileHosts: optional('--devfile-hosts <list>', 'BERTH_DEVFILE_HOSTS', devfileHosts,
    'hosts from which parents of devfiles are fetched by https: name, *.example.com or name:port (default: none)'),
  devfileCa: optional('--devfile-ca <file>', 'BERTH_DEVFILE_CA', anyText,
    "authorities of their certificates, PEM, instead of the system's"),

  operator: setting('--operator <namespace/name>', 'BERTH_OPERATOR', serviceAccount, 'berth-system/berth-operator',
    'service account that may ask for namespaces'),
  proxy: setting('--proxy <namespace/name>', 'BERTH_PROXY', serviceAccount, 'berth-system/berth-proxy',
    'service account that may reach workspaces through the tunnels of their pods'),
  audience: setting('--audience <name>', 'BERTH_AUDIENCE', anyText, 'berth-kas',
    'for which service account tokens must have been issued'),
  apiUrl: optional('--api-url <url>', 'BERTH_API_URL', anyText,
    "how targets call this cluster's API, where that is not the address used here; pods of this cluster are known by it"),
  refuseLocalTargets: toggle('--refuse-local-targets', 'BERTH_REFUSE_LOCAL_TARGETS',
    'do not ask clusters on loopback or private addresses whose pods come, this one excepted'),

  // Shorter, and clients would do little else than connect.
  maxConnectionAge: setting('--max-connection-age <seconds>', 'BERTH_MAX_CONNECTION_AGE', wholeSeconds(10, 604_800), '7200',
    'of a connection of a client, with all it has open'),
  streamAge: optional('--stream-age <seconds>', 'BERTH_STREAM_AGE', wholeSeconds(),
    'at which idle streams end cleanly, before a load balancer cuts them (default: 30 % of the age of connections)'),
  maxConnections: setting('--max-connections <number>', 'BERTH_MAX_CONNECTIONS', integer(), '10000',
    'of clients at once'),
  maxConnectionsPerAddress: setting('--max-connections-per-address <n>', 'BERTH_MAX_CONNECTIONS_PER_ADDRESS', integer(), '2500',
    'of clients with one address, as all behind a proxy have'),
  handshakeTimeout: setting('--handshake-timeout <seconds>', 'BERTH_HANDSHAKE_TIMEOUT', wholeSeconds(1, 300), '10',
    'until a client has to speak gRPC, TLS and WebSocket included'),

  kubernetesApi: setting('--kubernetes-api <host:port>', 'BERTH_KUBERNETES_API', hostAndPort, '127.0.0.1:8154',
    'where people reach the clusters of agents'),
  visitsPerSecond: setting('--visits-per-second <number>', 'BERTH_VISITS_PER_SECOND', integer(), '200',
    'of one person; all accounts of a namespace together twice as many; for a moment ten times as many'),
  agentWait: setting('--agent-wait <seconds>', 'BERTH_AGENT_WAIT', wholeSeconds(), '20',
    'how long a request waits for its agent to connect'),
  agentCalls: setting('--agent-calls <number>', 'BERTH_AGENT_CALLS', integer(), '40000',
    'calls and streams of one token of an agent in a minute'),
  api: optional('--api <host:port>', 'BERTH_API', hostAndPort,
    `gRPC, where who knows the secret asks for agents and tells of pushes (default: ${API})`),
  apiSecret: optional('--api-secret <file>', 'BERTH_API_SECRET', anyText,
    'base64 of at least 32 bytes; without it that endpoint is off'),

  privateApi: setting('--private-api <host:port>', 'BERTH_PRIVATE_API', hostAndPort, '127.0.0.1:8155',
    'where other kas ask for tunnels; needs a secret'),
  privateApiSecret: optional('--private-api-secret <file>', 'BERTH_PRIVATE_API_SECRET', anyText,
    'base64 of at least 32 bytes, the same for all kas'),
  peers: optional('--peers <urls>', 'BERTH_PEERS', peerUrls,
    'private endpoints of the other kas, such as grpcs://kas-peers:8155; a name may stand for several addresses'),
  peersCa: optional('--peers-ca <file>', 'BERTH_PEERS_CA', anyText,
    'authority of the certificates of peers, PEM (default: those of the system)'),
  redis: optional('--redis <url>', 'BERTH_REDIS', redisUrl,
    'where kas tell one another which agents they have, such as rediss://redis:6379; without it each asks all peers'),
  redisUser: optional('--redis-user <name>', 'BERTH_REDIS_USER', anyText,
    'as whom kas is at Redis (default: default)'),
  redisPassword: optional('--redis-password <file>', 'BERTH_REDIS_PASSWORD', anyText,
    'password of that user, read for each connection'),
  redisCa: optional('--redis-ca <file>', 'BERTH_REDIS_CA', anyText,
    'authority of its certificate, PEM (default: those of the system)'),
  redisPrefix: setting('--redis-prefix <text>', 'BERTH_REDIS_PREFIX', keyPrefix, 'berth',
    'beginning of its keys, and of the name of the channel; the same for all kas'),
  leaseNamespace: setting('--lease-namespace <name>', 'BERTH_NAMESPACE', anyText, 'berth-system',
    'where kas tells the others that it lives'),
  identity: optional('--identity <name>', 'POD_NAME', anyText,
    'beginning of the name of its Lease (default: kas)'),

  listenGrace: setting('--listen-grace <seconds>', 'BERTH_LISTEN_GRACE', wholeSeconds(0, 300), '0',
    'how long requests are still taken when kas ends, until load balancers know'),
  sessionGrace: setting('--session-grace <seconds>', 'BERTH_SESSION_GRACE', wholeSeconds(), '3600',
    "how long people's sessions with clusters of agents go on when kas ends; the proxy has its own flag"),
  ...TRACE_SETTINGS,
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error'),
}

/** All that git gets of the program's environment. */
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

export type KasConfig = ReturnType<typeof parseConfig>

export function parseConfig(flags: Flags, env: EnvironmentVariables) {
  const given = readSettings(SETTINGS, flags, env)
  checkEndpoints(given)
  const { tlsCert, tlsKey, redis, redisUser, redisPassword, redisCa, redisPrefix, ...others } = given
  return {
    ...others,
    tls: tlsFiles(tlsCert, tlsKey),
    redis:
      redis === undefined
        ? undefined
        : { url: redis, user: redisUser, password: redisPassword, ca: redisCa, prefix: redisPrefix },
    api: given.api ?? API,
    peers: given.peers ?? [],
    devfileHosts: given.devfileHosts ?? [],
    streamAge: streamAgeOf(given),
    environment: Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  }
}

type Given = SettingValues<typeof SETTINGS>

function checkEndpoints({ api, apiSecret, privateApiSecret, peers, peersCa, ...others }: Given): void {
  if (api && !apiSecret)
    throw wrongSetting('--api-secret', '', 'Give --api-secret too: kas must know by what to tell who may ask there.')
  const needed = 'Give --private-api-secret too: kas must prove to its peers that it is one of them.'
  if (peers && !privateApiSecret) throw wrongSetting('--private-api-secret', '', needed)
  if (peersCa && !peers?.some((url) => url.startsWith('grpcs:')))
    throw wrongSetting('--peers-ca', peersCa, 'Name peers with grpcs:// in --peers: without TLS no certificate is looked at.')
  checkRedis({ peers, ...others })
}

function checkRedis({
  peers,
  redis,
  redisUser,
  redisPassword,
  redisCa,
}: Pick<Given, 'peers' | 'redis' | 'redisUser' | 'redisPassword' | 'redisCa'>): void {
  if (redis && !peers)
    throw wrongSetting(
      '--peers',
      '',
      'Give --peers too, this kas included: Redis says which of them has an agent, and names no other.',
    )
  if (redisCa && !redis?.startsWith('rediss:'))
    throw wrongSetting('--redis-ca', redisCa, 'Write rediss:// in --redis: without TLS no certificate is looked at.')
  if (redisUser && !redisPassword) throw wrongSetting('--redis-password', '', 'Give --redis-password too: a user shows one.')
  if (redisPassword && !redis) throw wrongSetting('--redis', '', 'Give --redis too: a password alone leads nowhere.')
}

/** When a connection is as old as this part of its age, clients are told to open another, and idle streams end; at 85 % it is cut. */
export const AGES = { goaway: 0.2, streams: 0.3, grace: 0.65 } as const

function streamAgeOf({ maxConnectionAge, streamAge }: Given): number {
  if (streamAge === undefined) return Math.round(maxConnectionAge * AGES.streams)
  // A twentieth of it is chance.
  const longest = (maxConnectionAge * (AGES.goaway + AGES.grace)) / 1.05
  if (streamAge <= longest) return streamAge
  const remedy = `Write at most ${Math.floor(longest / 1000)}, or connections end before their streams do.`
  throw wrongSetting('--stream-age', String(streamAge / 1000), remedy)
}

function serviceAccount(given: string, flag: string): { namespace: string; name: string } {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(given) ?? []
  if (!namespace || !name) throw wrongSetting(flag, given, `Write it like ${flag} berth-system/berth-operator.`)
  return { namespace, name }
}

function mebibytes(most?: number): SettingParser<number> {
  const count = integer(1, most)
  return (given, flag) => count(given, flag) * 2 ** 20
}

/** Words with commas between, each as `one` understands it. */
function listOf<T>(one: (word: string) => T | undefined, remedy: string): SettingParser<T[]> {
  return (given, flag) =>
    given.split(',').map((word) => {
      const understood = one(word.trim())
      if (understood !== undefined) return understood
      throw wrongSetting(flag, given, remedy)
    })
}
