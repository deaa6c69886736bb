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
  redactUrls,
  required,
  Secret,
  setting,
  TRACE_SETTINGS,
  toggle,
  wrongSetting,
} from '../std/index.ts'

/** All that the agent can be told. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const SETTINGS = {
  kasAddress: required('--kas-address <url>', 'BERTH_KAS_ADDRESS', kasAddress,
    'grpc://, grpcs://, ws:// or wss://HOST:PORT'),
  tokenFile: optional('--token-file <file>', undefined, anyText,
    'token of the agent, read again for each call; else AGENTK_TOKEN or BERTH_AGENT_TOKEN'),
  caCertFile: optional('--ca-cert-file <file>', 'BERTH_KAS_CA', anyText,
    'certificate authority of kas, believed beside the system'),
  kasHeaders: { flag: '--kas-header <header>', isRepeated: true, read: headers,
    text: "'Name: value' that goes along with each call to kas; may be repeated" },
  kasTlsServerName: optional('--kas-tls-server-name <name>', undefined, anyText,
    'what the certificate of kas is made for, where it is not the host of the address'),
  kasInsecureSkipTlsVerify: toggle('--kas-insecure-skip-tls-verify', undefined,
    'believe any certificate of kas; for development only'),
  wait: toggle('--wait', 'BERTH_WAIT',
    'ask again where kas refuses the token at the start, and do not end'),
  ...CLUSTER_SETTINGS,
  podNamespace: required('--namespace <name>', 'POD_NAMESPACE', anyText,
    'where this pod is, and the Lease of the leader'),
  podName: required('--pod-name <name>', 'POD_NAME', anyText,
    "this replica's name, in the Lease and in kas"),
  operations: setting('--operations <host:port>', 'BERTH_OPERATIONS', operations, '127.0.0.1:8080',
    '/livez, /readyz, /metrics'),
  kubectl: setting('--kubectl <file>', 'BERTH_KUBECTL', anyText, 'kubectl',
    'what renders kustomizations: kubectl, or kustomize'),
  helm: setting('--helm <file>', 'BERTH_HELM', anyText, 'helm',
    'what renders Helm charts: helm 4; without it they are refused'),
  ...TRACE_SETTINGS,
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error, until the configuration says otherwise'),
}

export type AgentConfig = ReturnType<typeof parseConfig>

export function parseConfig(flags: Flags, env: EnvironmentVariables) {
  const { tokenFile, ...given } = readSettings(SETTINGS, flags, env)
  return { ...given, token: token(tokenFile, env) }
}

/** One of the two: with both nobody could say which of them counts. */
function token(file: string | undefined, env: EnvironmentVariables): { file: string } | { value: Secret<string> } {
  const value = env.AGENTK_TOKEN || env.BERTH_AGENT_TOKEN
  if (file !== undefined && value === undefined) return { file }
  if (file === undefined && value !== undefined) return { value: new Secret(value.trim()) }
  throw new Failure(
    'invalid',
    file === undefined ? 'there is no token' : 'there is a token file and a token in the environment',
    { remedy: 'Give --token-file, or set one of AGENTK_TOKEN and BERTH_AGENT_TOKEN.' },
  )
}

function kasAddress(given: string, flag: string): string {
  if (/^wss?:\/\/[^/@\s]+(\/\S*)?$/.test(given)) return given
  const [, scheme, host] = /^(\w+):\/\/([^/@\s]+)$/.exec(given) ?? []
  if ((scheme === 'grpc' || scheme === 'grpcs') && host !== undefined)
    return /:\d+$/.test(host) ? given : `${given}:${scheme === 'grpc' ? 80 : 443}`
  const remedy = `Write it like ${flag} grpcs://kas.example.com:443, grpc:// without TLS, or wss://kas.example.com/path.`
  throw wrongSetting(flag, redactUrls(given), remedy)
}

/** Keys in lower case. */
function headers(given: string | readonly string[] | undefined): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {}
  for (const line of typeof given === 'object' ? given : []) {
    const [, name, value = ''] = /^([\w.-]+):\s*([\x21-\x7e][\x20-\x7e]*)?$/.exec(line) ?? []
    // The value may be a secret, and stays out of the message.
    if (name === undefined || name.toLowerCase().endsWith('-bin'))
      throw new Failure('invalid', '--kas-header is no header', { remedy: "Write it like --kas-header 'Name: value'." })
    const key = name.toLowerCase()
    found[key] = [...(found[key] ?? []), value]
  }
  return found
}

/** As agentk takes it: `:8080` is every address of the pod. */
function operations(given: string, flag: string, example?: string): string {
  return /^:\d{1,5}$/.test(given) ? `0.0.0.0${given}` : hostAndPort(given, flag, example)
}
