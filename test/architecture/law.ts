/**
 * What may import what. Widening it is a visible diff, and a decision: say why in docs/decisions.
 * A room is a folder below src/ with one door, index.ts; everything below it belongs to it.
 */
export interface Room {
  /** Rooms that may be entered, each by its door. */
  imports: string[]
  /** Outside packages that are at home here. */
  packages?: string[]
  /** What this room may do with the process it runs in, beside reading nothing at all of it. */
  process?: string[] | 'everything'
  /** A program: its rooms do not know one another; only its root files know them. */
  isProgram?: boolean
  /** Of a program: the rooms that its other rooms may know, and that know none of those. */
  ground?: string[]
  /** Casts are allowed here, with a reason on the same line. */
  casts?: boolean
}

const CONTROLLERS = ['std', 'api', 'adapters/kube', 'adapters/files', 'adapters/http', 'adapters/traces', 'engines/controller']

/** From the ground up: a room may import only rooms that stand above it in this list, so the folders cannot form a cycle. */
export const LAW: Record<string, Room> = {
  std: { imports: [], packages: ['croner', 'ipaddr.js', 'lru-cache', 'pino', 'yaml'] },
  api: { imports: ['std'] },
  rpc: { imports: ['std'], packages: ['@bufbuild/protobuf'] },
  devfile: { imports: ['std'] },
  agentcfg: { imports: ['std', 'rpc'], packages: ['@bufbuild/protobuf'] },
  cel: { imports: ['std'], packages: ['@bufbuild/cel'] },
  'adapters/kube': {
    imports: ['std', 'api'],
    packages: ['@kubernetes/client-node', '@dot-i/k8s-operator', 'undici', 'ws'],
    casts: true,
  },
  'adapters/files': { imports: ['std'] },
  'adapters/processes': { imports: ['std'], process: ['kill', 'pid'] },
  'adapters/git': { imports: ['std', 'adapters/processes'], packages: ['semver', 'simple-git'], casts: true },
  // Charts and artifacts lie beside the mirrors of Git, under the same limits and the same rules of whom to ask.
  'adapters/artifacts': { imports: ['std', 'adapters/git'], packages: ['tar-stream'], casts: true },
  'adapters/grpc': { imports: ['std', 'rpc'], packages: ['@grpc/grpc-js', '@bufbuild/protobuf', 'ws'], casts: true },
  'adapters/ssh': { imports: ['std'], packages: ['ssh2'], casts: true },
  'adapters/signatures': { imports: ['std', 'adapters/ssh', 'adapters/artifacts'], packages: ['openpgp'] },
  'adapters/redis': { imports: ['std'], packages: ['@redis/client'] },
  'adapters/http': { imports: ['std'], packages: ['prom-client', 'undici'], casts: true },
  'adapters/traces': {
    imports: ['std'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
  },
  'adapters/auth': { imports: ['std'], packages: ['jose', 'openid-client', 'undici'] },
  'adapters/certificates': { imports: ['std'], packages: ['asn1js', 'ipaddr.js', 'pkijs'] },
  // Only who applies objects reads what SOPS has encrypted: kas, which fetches the files, never does.
  'adapters/sops': { imports: ['std'], packages: ['age-encryption', 'openpgp'] },
  // Only `berth mcp` speaks it, and loads it only then.
  'adapters/mcp': { imports: ['std'], packages: ['@modelcontextprotocol/server'], casts: true },
  'adapters/control-plane': {
    imports: ['std', 'adapters/certificates'],
    packages: ['semver', 'undici'],
    process: ['kill', 'pid', 'getuid'],
    casts: true,
  },
  'engines/controller': { imports: ['std', 'api', 'adapters/kube', 'adapters/http'] },
  'engines/apply': { imports: ['std', 'api', 'adapters/kube'] },
  'engines/render': { imports: ['std', 'api', 'adapters/processes', 'adapters/sops', 'engines/apply'] },
  'engines/health': { imports: ['std', 'api', 'cel', 'engines/apply'] },
  'engines/gitops': {
    imports: ['std', 'api', 'adapters/kube', 'adapters/http', 'engines/apply', 'engines/render', 'engines/health'],
  },
  'engines/tunnel': { imports: ['std', 'rpc', 'adapters/grpc'], packages: ['@bufbuild/protobuf'] },
  'engines/devfiles': { imports: ['std', 'api', 'devfile'] },
  'engines/access': { imports: ['api'] },
  'engines/permissions': { imports: ['std', 'api', 'adapters/kube'] },
  'engines/targets': { imports: ['std', 'api', 'adapters/kube', 'engines/controller'] },
  'engines/lookout': { imports: ['std', 'api', 'adapters/kube'] },
  operator: {
    imports: [
      ...CONTROLLERS,
      'rpc',
      'devfile',
      'adapters/grpc',
      'adapters/sops',
      'engines/apply',
      'engines/render',
      'engines/health',
      'engines/gitops',
      'engines/devfiles',
      'engines/targets',
    ],
    isProgram: true,
    ground: ['repository-names', 'removal-guard'],
  },
  kas: {
    imports: [
      ...CONTROLLERS,
      'rpc',
      'agentcfg',
      'adapters/auth',
      'adapters/git',
      'adapters/artifacts',
      'adapters/grpc',
      'adapters/redis',
      'adapters/signatures',
      'engines/tunnel',
      'engines/devfiles',
      'engines/access',
      'engines/permissions',
      'engines/targets',
    ],
    packages: ['@bufbuild/protobuf'],
    isProgram: true,
    ground: ['projects', 'tokens', 'ports'],
  },
  agent: {
    imports: [
      ...CONTROLLERS,
      'rpc',
      'agentcfg',
      'adapters/grpc',
      'engines/apply',
      'engines/render',
      'engines/gitops',
      'engines/tunnel',
    ],
    packages: ['@bufbuild/protobuf'],
    isProgram: true,
    ground: ['ports'],
  },
  certificates: {
    imports: ['std', 'api', 'adapters/kube', 'adapters/http', 'adapters/certificates'],
    isProgram: true,
  },
  agentw: { imports: ['std', 'rpc', 'adapters/files', 'adapters/grpc', 'engines/tunnel'], isProgram: true },
  dashboard: {
    imports: [
      ...['std', 'api', 'devfile', 'adapters/kube'],
      ...['engines/access', 'engines/devfiles', 'engines/lookout', 'engines/permissions'],
    ],
  },
  proxy: {
    imports: [
      ...CONTROLLERS,
      'adapters/auth',
      'adapters/grpc',
      'adapters/ssh',
      'engines/access',
      'engines/lookout',
      'engines/permissions',
      'dashboard',
    ],
    isProgram: true,
    ground: ['web'],
  },
  cli: {
    imports: [
      'std',
      'api',
      'devfile',
      'adapters/kube',
      'adapters/git',
      // `berth ssh-cert` shows a token to the proxy over SSH: docs/decisions/0263.
      'adapters/ssh',
      'adapters/mcp',
      'adapters/control-plane',
      'engines/apply',
      'engines/devfiles',
      'engines/health',
      'engines/lookout',
      'operator',
      'kas',
      'agent',
      'agentw',
      'proxy',
      'certificates',
    ],
    packages: ['ajv', 'commander', 'yaml'],
    process: 'everything',
  },
}

/** The types of Kubernetes' own kinds may be named everywhere; calling the client may not. */
export const FREE_TYPES = ['@kubernetes/client-node']

/** These say nothing about what is inside. */
export const BANNED_NAMES = /^(utils?|helpers?|common|misc|shared|types|manager)(\.ts)?$/

export const LIMITS = { fileLines: 400, functionLines: 80 }
