import { WORKSPACE_IMAGE } from '../api/index.ts'
import {
  anyText,
  CLUSTER_SETTINGS,
  type EnvironmentVariables,
  Failure,
  type Flags,
  hostAndPort,
  logLevel,
  optional,
  readSettings,
  setting,
  TRACE_SETTINGS,
  toggle,
  wrongSetting,
} from '../std/index.ts'

/** All that the operator can be told. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const SETTINGS = {
  ...CLUSTER_SETTINGS,
  namespace: optional('--namespace <name>', 'BERTH_WATCH_NAMESPACE', anyText,
    'look after one namespace only'),
  leaseNamespace: setting('--lease-namespace <name>', 'BERTH_NAMESPACE', anyText, 'berth-system',
    'where the Lease of the leader lives'),
  identity: optional('--identity <name>', 'POD_NAME', anyText,
    "this replica's name in the Lease"),
  leaderElection: toggle('--no-leader-election', undefined,
    'act without holding the Lease; safe, and slower'),
  operations: setting('--operations <host:port>', 'BERTH_OPERATIONS', hostAndPort, '127.0.0.1:8081',
    '/livez, /readyz, /metrics'),
  apiUrl: optional('--api-url <url>', 'BERTH_API_URL', anyText,
    'the URL of the API in kubeconfigs that are handed out'),

  kas: setting('--kas <host:port>', 'BERTH_KAS', hostAndPort, '127.0.0.1:8150',
    'where kas serves Git'),
  kasCa: optional('--kas-ca <file>', 'BERTH_KAS_CA', anyText,
    'certificate authority of kas; plain text without it'),
  kasApi: optional('--kas-api <url>', 'BERTH_KAS_API', kasApi,
    'where kas answers for the Kubernetes APIs of agents; without it no spaces are made there'),
  kasGit: optional('--kas-git <url>', 'BERTH_KAS_GIT', kasGit,
    'where pods of workspaces ask kas for Git credentials; without it they cannot'),
  kasTunnels: optional('--kas-tunnels <url>', 'BERTH_KAS_TUNNELS', kasTunnels,
    'where pods of workspaces open tunnels, as grpcs:// or wss://, for classes with `proxy.wayIn: Tunnel`'),
  agentwImage: optional('--agentw-image <image>', 'BERTH_AGENTW_IMAGE', anyText,
    'the image of Berth that opens them'),
  workspaceImage: setting('--workspace-image <image>', 'BERTH_WORKSPACE_IMAGE', anyText, WORKSPACE_IMAGE,
    'with a shell and git: clones into workspaces and packs their backups, where their class names no other'),
  gitCa: optional('--git-ca <file>', 'BERTH_GIT_CA', anyText,
    'certificate authorities of Git servers, for workspaces; those of their images without it'),

  kubectl: setting('--kubectl <file>', 'BERTH_KUBECTL', anyText, 'kubectl',
    'what renders kustomizations: kubectl, or kustomize'),
  helm: setting('--helm <file>', 'BERTH_HELM', anyText, 'helm',
    'what renders Helm charts: helm 4; without it they are refused'),
  // To link-local and metadata addresses they never may, and to the own API always.
  refuseLocalTargets: toggle('--refuse-local-targets', 'BERTH_REFUSE_LOCAL_TARGETS',
    'neither targets nor notifications may lead to loopback or private addresses'),
  insecureTargets: toggle('--insecure-targets', 'BERTH_INSECURE_TARGETS',
    'do not verify certificates of targets made here; for development only'),
  crossNamespaceDependencies: toggle('--cross-namespace-dependencies', undefined,
    'GitOpsDeployments may depend on those of other namespaces'),
  mostWatches: optional('--most-watches <n>', undefined, amount,
    'watches on deployed objects at once (default: 20000); beyond it, they are compared each interval'),
  mostObjects: optional('--most-objects <n>', undefined, amount,
    'objects of all GitOpsDeployments of one namespace (default: 100000)'),
  mostFiles: optional('--most-files <mebibytes>', undefined, amount,
    'of files that all GitOpsDeployments of one namespace follow (default: 64)'),
  ...TRACE_SETTINGS,
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error'),
}

export type OperatorConfig = ReturnType<typeof parseConfig>

export function parseConfig(flags: Flags, env: EnvironmentVariables) {
  const { kasTunnels: kas, agentwImage: image, ...given } = readSettings(SETTINGS, flags, env)
  return { ...given, tunnels: tunnelsOf(kas, image) }
}

function tunnelsOf(kas: string | undefined, image: string | undefined): { kas: string; image: string } | undefined {
  if (kas !== undefined && image !== undefined) return { kas, image }
  if (kas === undefined && image === undefined) return undefined
  const [missing, remedy] =
    kas === undefined
      ? ['--kas-tunnels', 'Say where pods open tunnels to kas, such as --kas-tunnels grpcs://kas.example.com:443.']
      : ['--agentw-image', 'Name the image of Berth that opens the tunnels.']
  throw new Failure('invalid', `${missing} is missing`, { remedy })
}

const NO_HTTPS = ', which is no https:// URL'

function kasApi(given: string, flag: string): string {
  if (URL.canParse(given) && new URL(given).protocol === 'https:') return given
  throw wrongSetting(flag, given, `Write it like ${flag} https://kas.example.com:8154.`, NO_HTTPS)
}

/** Plain text is for a machine of one's own: the token of a pod goes over it. */
function kasGit(given: string, flag: string): string {
  const { protocol, hostname } = URL.canParse(given) ? new URL(given) : { protocol: '', hostname: '' }
  if (protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1')) return given
  throw wrongSetting(flag, given, `Write it like ${flag} https://kas.berth-system.svc:8156.`, NO_HTTPS)
}

/** Plain text is for a machine of one's own: the token of a pod goes over it. */
function kasTunnels(given: string, flag: string): string {
  if (/^(grpcs:\/\/[^/@\s]+|wss:\/\/[^/@\s]+(\/\S*)?|grpc:\/\/127\.0\.0\.1:\d+)$/.test(given)) return given
  throw wrongSetting(flag, given, `Write it like ${flag} grpcs://kas.example.com:443.`, ', which is no grpcs:// or wss:// URL')
}

function amount(given: string, flag: string): number {
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw wrongSetting(flag, given, `Write it like ${flag} 5000.`, ', which is not a number')
}
