import {
  anyText,
  type EnvironmentVariables,
  type Flags,
  logLevel,
  optional,
  readSettings,
  required,
  setting,
  wrongSetting,
} from '../std/index.ts'

/** All that agentw can be told. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const SETTINGS = {
  kasAddress: required('--kas-address <url>', 'BERTH_KAS_ADDRESS', kasAddress,
    'kas, as grpc://, grpcs://, ws:// or wss://'),
  tokenFile: required('--token-file <file>', 'BERTH_TOKEN_FILE', anyText,
    'proves to kas whose pod this is; read again for each tunnel'),
  caCertFile: optional('--ca-cert-file <file>', 'BERTH_KAS_CA', anyText,
    "certificate authority of kas, beside the system's"),
  workspace: required('--workspace <namespace/name>', 'BERTH_WORKSPACE_KEY', workspaceKey,
    'the Workspace that the pod belongs to'),
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error'),
}

export type AgentwConfig = ReturnType<typeof parseConfig>

export const parseConfig = (flags: Flags, env: EnvironmentVariables) => readSettings(SETTINGS, flags, env)

function kasAddress(given: string, flag: string): string {
  if (/^(grpcs?:\/\/[^/@\s]+|wss?:\/\/[^/@\s]+(\/\S*)?)$/.test(given)) return given
  throw wrongSetting(flag, given, `Write it like ${flag} grpcs://kas.example.com:443, or set BERTH_KAS_ADDRESS.`)
}

function workspaceKey(given: string, flag: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{0,252}$/.test(given)) return given
  throw wrongSetting(flag, given, `Write it like ${flag} team-a/web, or set BERTH_WORKSPACE_KEY.`)
}
