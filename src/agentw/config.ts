import { type LogLevel, readSettings, wrongSetting } from '../std/index.ts'

export interface Config {
  /** --kas-address URL, BERTH_KAS_ADDRESS: `grpc://HOST:PORT`, `grpcs://HOST:PORT`, `ws://…` or `wss://HOST:PORT/PATH`. */
  kasAddress: string
  /** --token-file FILE, BERTH_TOKEN_FILE: proves to kas whose pod this is. Read again for each tunnel. */
  tokenFile: string
  /** --ca-cert-file FILE, BERTH_KAS_CA: certificate authority of kas, believed beside the system's. */
  caCertFile: string | undefined
  /** --workspace NAMESPACE/NAME, BERTH_WORKSPACE_KEY: the Workspace that this pod belongs to. */
  workspace: string
  /** --log-level debug|info|warn|error, BERTH_LOG_LEVEL */
  logLevel: LogLevel
}

/** Flags win over variables. Errors name the setting. */
export function parseConfig(
  flags: Readonly<Record<string, string | boolean | undefined>>,
  env: Record<string, string | undefined>,
): Config {
  const { text, logLevel } = readSettings({ flags, env })
  const matching = (key: string, [flag, variable]: [string, string], form: RegExp, example: string): string => {
    const given = text(key, variable) ?? ''
    if (form.test(given)) return given
    throw wrongSetting(flag, given, `Write it like ${flag} ${example}, or set ${variable}.`)
  }
  return {
    kasAddress: matching(
      'kasAddress',
      ['--kas-address', 'BERTH_KAS_ADDRESS'],
      /^(grpcs?:\/\/[^/@\s]+|wss?:\/\/[^/@\s]+(\/\S*)?)$/,
      'grpcs://kas.example.com:443',
    ),
    tokenFile: matching('tokenFile', ['--token-file', 'BERTH_TOKEN_FILE'], /./, '/var/run/berth/token'),
    caCertFile: text('caCertFile', 'BERTH_KAS_CA'),
    workspace: matching(
      'workspace',
      ['--workspace', 'BERTH_WORKSPACE_KEY'],
      /^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{0,252}$/,
      'team-a/web',
    ),
    logLevel: logLevel(),
  }
}
