import { isIP } from 'node:net'
import {
  anyText,
  CLUSTER_SETTINGS,
  type EnvironmentVariables,
  type Flags,
  hostAndPort,
  logLevel,
  readSettings,
  type SettingParser,
  setting,
  words,
  wrongSetting,
} from '../std/index.ts'

const names: SettingParser<string[]> = (given, flag) => {
  const found = words(given, flag)
  const wrong = found.find((name) => isIP(name) === 0 && !isHost(name))
  if (wrong === undefined) return found.map((name) => (isIP(name) === 6 ? shortest(name) : name))
  throw wrongSetting(flag, wrong, 'Write host names and addresses with commas between, such as kas.example.com,192.0.2.7.')
}

/** An IPv6 address may be written in many ways. */
const shortest = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)

/** As certificates have them: `*` stands for the whole first label. */
const isHost = (name: string): boolean =>
  name.length <= 253 && /^(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/.test(name)

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
  operations: setting('--operations <host:port>', 'BERTH_OPERATIONS', hostAndPort, '127.0.0.1:8081',
    '/livez, /readyz, /metrics'),
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error'),
}

export type CertificatesConfig = ReturnType<typeof parseConfig>

export const parseConfig = (flags: Flags, env: EnvironmentVariables) => readSettings(SETTINGS, flags, env)
