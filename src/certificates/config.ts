import { isIP } from 'node:net'
import {
  anyText,
  CLUSTER_SETTINGS,
  type EnvironmentVariables,
  type Flags,
  hostAndPort,
  isHostOrAddress,
  logLevel,
  readSettings,
  type SettingParser,
  setting,
  words,
  wrongSetting,
} from '../std/index.ts'

const names: SettingParser<string[]> = (given, flag) => {
  const found = words(given, flag)
  const wrong = found.find((name) => !isHostOrAddress(name))
  if (wrong === undefined) return found.map((name) => (isIP(name) === 6 ? shortest(name) : name))
  throw wrongSetting(flag, wrong, 'Write host names and addresses with commas between, such as kas.example.com,192.0.2.7.')
}

/** An IPv6 address may be written in many ways. */
const shortest = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)

/** Who makes a certificate, where nobody else is named. */
export const OURSELVES = 'berth'

/** All that the program can be told. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const SETTINGS = {
  ...CLUSTER_SETTINGS,
  namespace: setting('--namespace <name>', 'BERTH_NAMESPACE', anyText, 'berth-system',
    'where Berth is installed: there are the Secrets'),
  kasNames: setting('--kas-names <list>', 'BERTH_KAS_NAMES', names, '',
    'host names and addresses at which agents and people reach kas, beside its Services'),
  proxyNames: setting('--proxy-names <list>', 'BERTH_PROXY_NAMES', names, '',
    'hosts of the proxy, such as *.workspaces.example.com; it gets no certificate without them'),
  kasIssuer: setting('--kas-issuer <name>', 'BERTH_KAS_ISSUER', anyText, OURSELVES,
    'who fills the Secret kas-tls: berth, or somebody else, such as cert-manager'),
  proxyIssuer: setting('--proxy-issuer <name>', 'BERTH_PROXY_ISSUER', anyText, OURSELVES,
    'who fills the Secret berth-proxy-tls, likewise'),
  operations: setting('--operations <host:port>', 'BERTH_OPERATIONS', hostAndPort, '127.0.0.1:8081',
    '/livez, /readyz, /metrics'),
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error'),
}

export type CertificatesConfig = ReturnType<typeof parseConfig>

export const parseConfig = (flags: Flags, env: EnvironmentVariables) => readSettings(SETTINGS, flags, env)
