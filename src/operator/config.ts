import { Failure, type LogLevel } from '../std/index.ts'

export interface Config {
  /** --kubeconfig FILE, else KUBECONFIG, the pod's service account, ~/.kube/config. */
  kubeconfig: string | undefined
  /** --context NAME: of the kubeconfig. */
  context: string | undefined
  /** --namespace NS, BERTH_WATCH_NAMESPACE: look after one namespace only; all without it. */
  namespace: string | undefined
  /** --lease-namespace NS, BERTH_NAMESPACE: where the Lease of the leader lives. */
  leaseNamespace: string
  /** --identity NAME, POD_NAME: this replica's name in the Lease. */
  identity: string | undefined
  /** --no-leader-election: several operators act at once. Safe, and slower. */
  leaderElection: boolean
  /** --operations HOST:PORT, BERTH_OPERATIONS: /livez, /readyz and /metrics. Port 0 lets the kernel choose. */
  operations: string
  /** --api-url URL, BERTH_API_URL: how people and agents reach this cluster's API; goes into kubeconfigs that are handed out. */
  apiUrl: string | undefined
  /** --kas HOST:PORT, BERTH_KAS: where kas serves Git. */
  kas: string
  /** --kas-ca FILE, BERTH_KAS_CA: certificate authority of kas; plain text without it. */
  kasCa: string | undefined
  /** --kas-api URL, BERTH_KAS_API: where kas answers for the Kubernetes APIs of agents; without it no spaces are made there. */
  kasApi: string | undefined
  /** --kas-git URL, BERTH_KAS_GIT: where pods of workspaces ask kas for Git credentials; without it they cannot. */
  kasGit: string | undefined
  /**
   * --kas-tunnels URL, BERTH_KAS_TUNNELS, where pods of workspaces open tunnels to kas, such as grpcs://kas.example.com:443, and
   * --agentw-image IMAGE, BERTH_AGENTW_IMAGE, the image of Berth that does it: for classes with `proxy.wayIn: Tunnel`.
   */
  tunnels: { kas: string; image: string } | undefined
  /** --git-ca FILE, BERTH_GIT_CA: certificate authorities of Git servers, for workspaces; those of their images without it. */
  gitCa: string | undefined
  /** --kubectl FILE, BERTH_KUBECTL: the program that renders kustomizations. */
  kubectl: string
  /**
   * --refuse-local-targets, BERTH_REFUSE_LOCAL_TARGETS=true: neither targets nor notifications may lead to loopback or private
   * addresses, the own API excepted. To link-local and metadata addresses they never may.
   */
  refuseLocalTargets: boolean
  /** --cross-namespace-dependencies: a GitOpsDeployment may depend on one of another namespace. */
  crossNamespaceDependencies: boolean
  /** --most-watches N: watches on deployed objects that are open at once; beyond it, objects are compared each interval. */
  mostWatches: number | undefined
  /** --most-objects N: objects of all GitOpsDeployments of one namespace. */
  mostObjects: number | undefined
  /** --most-files MIB: what all GitOpsDeployments of one namespace follow, in mebibytes. */
  mostFiles: number | undefined
  /** --insecure-targets, BERTH_INSECURE_TARGETS=true: targets that are made here skip the verification of certificates. For development only. */
  insecureTargets: boolean
  /** --log-level debug|info|warn|error, BERTH_LOG_LEVEL */
  logLevel: LogLevel
}

export type Flags = Partial<Record<keyof Config | 'kasTunnels' | 'agentwImage', string | boolean>>

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

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
    leaseNamespace: text('leaseNamespace', 'BERTH_NAMESPACE') ?? 'berth-system',
    identity: text('identity', 'POD_NAME'),
    leaderElection: flags.leaderElection !== false,
    operations: address(text('operations', 'BERTH_OPERATIONS') ?? '127.0.0.1:8081', '--operations'),
    apiUrl: text('apiUrl', 'BERTH_API_URL'),
    kas: address(text('kas', 'BERTH_KAS') ?? '127.0.0.1:8150', '--kas'),
    kasCa: text('kasCa', 'BERTH_KAS_CA'),
    kasApi: url(text('kasApi', 'BERTH_KAS_API'), '--kas-api'),
    kasGit: reachable(text('kasGit', 'BERTH_KAS_GIT'), '--kas-git'),
    tunnels: tunnels(text('kasTunnels', 'BERTH_KAS_TUNNELS'), text('agentwImage', 'BERTH_AGENTW_IMAGE')),
    gitCa: text('gitCa', 'BERTH_GIT_CA'),
    kubectl: text('kubectl', 'BERTH_KUBECTL') ?? 'kubectl',
    refuseLocalTargets: flags.refuseLocalTargets === true || isOn(env, 'BERTH_REFUSE_LOCAL_TARGETS'),
    crossNamespaceDependencies: flags.crossNamespaceDependencies === true,
    mostWatches: amount(text('mostWatches'), '--most-watches'),
    mostObjects: amount(text('mostObjects'), '--most-objects'),
    mostFiles: amount(text('mostFiles'), '--most-files'),
    insecureTargets: flags.insecureTargets === true || isOn(env, 'BERTH_INSECURE_TARGETS'),
    logLevel: level(text('logLevel', 'BERTH_LOG_LEVEL') ?? 'info'),
  }
}

/** What is neither is refused: who writes `yes` must not go without what was asked for. */
function isOn(env: Record<string, string | undefined>, variable: string): boolean {
  const given = env[variable]
  if (given === undefined || given === '' || given === 'false') return false
  if (given === 'true') return true
  throw new Failure('invalid', `${variable} is "${given}"`, { remedy: 'Write true or false.' })
}

function address(given: string, flag: string): string {
  if (/^\S+:\d{1,5}$/.test(given)) return given
  throw new Failure('invalid', `${flag} is "${given}", which is not HOST:PORT`, {
    remedy: `Write it like ${flag} 127.0.0.1:8081.`,
  })
}

function url(given: string | undefined, flag: string): string | undefined {
  if (given === undefined || (URL.canParse(given) && new URL(given).protocol === 'https:')) return given
  throw new Failure('invalid', `${flag} is "${given}", which is no https:// URL`, {
    remedy: `Write it like ${flag} https://kas.example.com:8154.`,
  })
}

/** Plain text is for a machine of one's own: the token of a pod goes over it. */
function tunnels(kas: string | undefined, image: string | undefined): Config['tunnels'] {
  if (kas === undefined && image === undefined) return undefined
  if (kas === undefined || !/^(grpcs:\/\/[^/@\s]+|wss:\/\/[^/@\s]+(\/\S*)?|grpc:\/\/127\.0\.0\.1:\d+)$/.test(kas))
    throw new Failure('invalid', `--kas-tunnels is "${kas ?? ''}", which is no grpcs:// or wss:// URL`, {
      remedy: 'Write it like --kas-tunnels grpcs://kas.example.com:443.',
    })
  if (image === undefined)
    throw new Failure('invalid', '--agentw-image is missing', { remedy: 'Name the image of Berth that opens the tunnels.' })
  return { kas, image }
}

/** Plain text is for a machine of one's own: the token of a pod goes over it. */
function reachable(given: string | undefined, flag: string): string | undefined {
  const { protocol, hostname } = given !== undefined && URL.canParse(given) ? new URL(given) : { protocol: '', hostname: '' }
  if (given === undefined || protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1')) return given
  throw new Failure('invalid', `${flag} is "${given}", which is no https:// URL`, {
    remedy: `Write it like ${flag} https://kas.berth-system.svc:8156.`,
  })
}

function amount(given: string | undefined, flag: string): number | undefined {
  if (given === undefined || /^\d{1,9}$/.test(given)) return given === undefined ? undefined : Number(given)
  throw new Failure('invalid', `${flag} is "${given}", which is not a number`, { remedy: `Write it like ${flag} 5000.` })
}

function level(given: string): LogLevel {
  const found = LEVELS.find((name) => name === given)
  if (found) return found
  throw new Failure('invalid', `--log-level is "${given}"`, { remedy: `Use one of ${LEVELS.join(', ')}.` })
}
