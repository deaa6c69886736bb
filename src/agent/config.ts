import { Failure, type LogLevel, redactUrls, Secret } from '../std/index.ts'

export interface Config {
  /** --kas-address URL, BERTH_KAS_ADDRESS: `grpc://HOST:PORT`, `grpcs://HOST:PORT`, `ws://…` or `wss://HOST:PORT/PATH`. */
  kasAddress: string
  /** --token-file FILE, else AGENTK_TOKEN or BERTH_AGENT_TOKEN: proves to kas which agent this is. Files are read again for each call. */
  token: { file: string } | { value: Secret<string> }
  /** --ca-cert-file FILE: certificate authority of kas, believed beside the system's. */
  caCertFile: string | undefined
  /** --kas-header 'NAME: VALUE', several times: goes along with each call to kas. Keys in lower case. */
  kasHeaders: Readonly<Record<string, readonly string[]>>
  /** --kas-tls-server-name NAME: what the certificate of kas is made for, where it is not the host of the address. */
  kasTlsServerName: string | undefined
  /** --kas-insecure-skip-tls-verify: believe any certificate of kas. For development only. */
  kasInsecureSkipTlsVerify: boolean
  /** --kubeconfig FILE, else KUBECONFIG, the pod's service account, ~/.kube/config. */
  kubeconfig: string | undefined
  /** --context NAME: of the kubeconfig. */
  context: string | undefined
  /** --namespace NS, POD_NAMESPACE: where this pod is, and where the Lease of the leader lives. */
  podNamespace: string
  /** --pod-name NAME, POD_NAME: this replica's name, in the Lease and in kas. */
  podName: string
  /** --operations HOST:PORT, BERTH_OPERATIONS: /livez, /readyz and /metrics. Port 0 lets the kernel choose. */
  operations: string
  /** --kubectl FILE, BERTH_KUBECTL: the program that renders kustomizations. */
  kubectl: string
  /** --log-level debug|info|warn|error, BERTH_LOG_LEVEL: until a configuration says otherwise. */
  logLevel: LogLevel
}

export type Flags = Partial<Record<keyof Config | 'tokenFile' | 'kasHeader' | 'namespace', string | boolean | string[]>>

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

/** Flags win over variables, variables over defaults. Errors name the setting. */
export function parseConfig(flags: Flags, env: Record<string, string | undefined>): Config {
  const text = (flag: keyof Flags, variable?: string): string | undefined => {
    const given = flags[flag]
    return typeof given === 'string' ? given : (variable && env[variable]) || undefined
  }
  const needed = (flag: keyof Flags, variable: string, written: string): string => {
    const given = text(flag, variable)
    if (given !== undefined && given !== '') return given
    throw new Failure('invalid', `${written} is missing`, { remedy: `Give ${written}, or set ${variable}.` })
  }
  return {
    kasAddress: kasAddress(needed('kasAddress', 'BERTH_KAS_ADDRESS', '--kas-address')),
    token: token(text('tokenFile'), env),
    caCertFile: text('caCertFile', 'BERTH_KAS_CA'),
    kasHeaders: headers(flags.kasHeader),
    kasTlsServerName: text('kasTlsServerName'),
    kasInsecureSkipTlsVerify: flags.kasInsecureSkipTlsVerify === true,
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    podNamespace: needed('namespace', 'POD_NAMESPACE', '--namespace'),
    podName: needed('podName', 'POD_NAME', '--pod-name'),
    operations: operations(text('operations', 'BERTH_OPERATIONS') ?? '127.0.0.1:8080'),
    kubectl: text('kubectl', 'BERTH_KUBECTL') ?? 'kubectl',
    logLevel: level(text('logLevel', 'BERTH_LOG_LEVEL') ?? 'info'),
  }
}

const wrong = (what: string, remedy: string) => new Failure('invalid', what, { remedy })

function kasAddress(given: string): string {
  if (/^wss?:\/\/[^/@\s]+(\/\S*)?$/.test(given)) return given
  const [, scheme, host] = /^(\w+):\/\/([^/@\s]+)$/.exec(given) ?? []
  if ((scheme === 'grpc' || scheme === 'grpcs') && host !== undefined)
    return /:\d+$/.test(host) ? given : `${given}:${scheme === 'grpc' ? 80 : 443}`
  throw wrong(
    `--kas-address is "${redactUrls(given)}"`,
    'Write it like --kas-address grpcs://kas.example.com:443, grpc:// without TLS, or wss://kas.example.com/path.',
  )
}

/** One of the two: with both nobody could say which of them counts. */
function token(file: string | undefined, env: Record<string, string | undefined>): Config['token'] {
  const value = env.AGENTK_TOKEN || env.BERTH_AGENT_TOKEN
  if (file !== undefined && value === undefined) return { file }
  if (file === undefined && value !== undefined) return { value: new Secret(value.trim()) }
  throw wrong(
    file === undefined ? 'there is no token' : 'there is a token file and a token in the environment',
    'Give --token-file, or set one of AGENTK_TOKEN and BERTH_AGENT_TOKEN.',
  )
}

function headers(given: Flags['kasHeader']): Config['kasHeaders'] {
  const found: Record<string, string[]> = {}
  for (const line of Array.isArray(given) ? given : []) {
    const [, name, value = ''] = /^([\w.-]+):\s*([\x21-\x7e][\x20-\x7e]*)?$/.exec(line) ?? []
    // The value may be a secret, and stays out of the message.
    if (name === undefined || name.toLowerCase().endsWith('-bin'))
      throw wrong('--kas-header is no header', "Write it like --kas-header 'Name: value'.")
    const key = name.toLowerCase()
    found[key] = [...(found[key] ?? []), value]
  }
  return found
}

function operations(given: string): string {
  if (/^\S*:\d{1,5}$/.test(given)) return given.startsWith(':') ? `0.0.0.0${given}` : given
  throw wrong(`--operations is "${given}", which is not HOST:PORT`, 'Write it like --operations 127.0.0.1:8080.')
}

function level(given: string): LogLevel {
  const found = LEVELS.find((name) => name === given)
  if (found) return found
  throw wrong(`--log-level is "${given}"`, `Use one of ${LEVELS.join(', ')}.`)
}
