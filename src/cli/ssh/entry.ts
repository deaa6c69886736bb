import { nameOf, type Workspace } from '../../api/index.ts'

/** A workspace as OpenSSH is told of it. Nothing in it but what `entryOf` has looked at. */
export interface SshEntry {
  /** What people type: `web.team-a.berth`. */
  alias: string
  namespace: string
  user: string
  host: string
  port: number
  hostKeys: string[]
}

/** Behind each alias: no host of a network is called so. */
const END = 'berth'

/**
 * Pure. The workspace's way in, or why it is left out. Whoever may write the status of a Workspace could put a line of his own into a
 * person's configuration, where `ProxyCommand` runs a program: nothing gets in but letters that cannot end a word or begin an option.
 */
export function entryOf(workspace: Workspace): SshEntry | string {
  const { name, namespace = '' } = workspace.metadata
  const { ssh } = workspace.status ?? {}
  if (!LABEL.test(name) || !LABEL.test(namespace)) return `${nameOf(workspace)} has a name that OpenSSH could misread`
  if (!ssh) return `${nameOf(workspace)} is not reached over SSH`
  const { user, host, port, hostKeys } = ssh
  const wrong = (field: string, value: unknown) =>
    `${nameOf(workspace)} has ${JSON.stringify(value)?.slice(0, 80)} as status.ssh.${field}, which the operator writes otherwise`
  if (user !== `${name}.${namespace}`) return wrong('user', user)
  if (!isHost(host)) return wrong('host', host)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return wrong('port', port)
  if (!Array.isArray(hostKeys) || hostKeys.length === 0 || hostKeys.length > MOST_KEYS) return wrong('hostKeys', hostKeys)
  for (const key of hostKeys) if (!isHostKey(key)) return wrong('hostKeys', key)
  return { alias: `${user}.${END}`, namespace, user, host, port, hostKeys }
}

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const HOST = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
const HOST_KEY = /^ssh-ed25519 ([A-Za-z0-9+/]{68})$/
const MOST_KEYS = 8
/** What stands before the 32 bytes of such a key. */
const HEAD = Buffer.from('\0\0\0\u000bssh-ed25519\0\0\0 ', 'latin1')

export const isHost = (text: unknown): boolean => typeof text === 'string' && HOST.test(text)

/** A public key of ed25519, as known_hosts has it. */
export function isHostKey(text: unknown): boolean {
  const [, blob = ''] = (typeof text === 'string' && HOST_KEY.exec(text)) || []
  return Buffer.from(blob, 'base64').subarray(0, HEAD.length).equals(HEAD)
}

/** Where things are on the person's machine, fit to stand in the configuration (`word` of paths.ts). */
export interface SshPlaces {
  knownHosts: string
  /**
   * Shown before all keys, those of an agent too: a server takes few attempts. Beside its key OpenSSH would look for none where any other
   * is named, as in the person's own configuration.
   */
  certificates: readonly string[]
  /** Shown one after the other. Its own usual ones where there are none. */
  identities: readonly string[]
  /** No others are shown then, not those of an agent either. */
  isAll: boolean
}

/** Pure. As ssh_config(5) has it; another key than the pinned one is refused without a question, and nothing leads back. */
export const blockOf = (
  { alias, host, port, user }: SshEntry,
  { knownHosts, certificates, identities, isAll }: SshPlaces,
): string =>
  [
    `Host ${alias}`,
    `  HostName ${host}`,
    `  Port ${port}`,
    `  User ${user}`,
    `  HostKeyAlias ${alias}`,
    `  UserKnownHostsFile ${knownHosts}`,
    '  GlobalKnownHostsFile /dev/null',
    '  StrictHostKeyChecking yes',
    '  UpdateHostKeys no',
    '  ForwardAgent no',
    '  ForwardX11 no',
    ...certificates.map((certificate) => `  CertificateFile ${certificate}`),
    ...identities.map((identity) => `  IdentityFile ${identity}`),
    ...(isAll ? ['  IdentitiesOnly yes'] : []),
    '',
  ].join('\n')

/** Pure. As known_hosts has it. */
export const pinsOf = ({ alias, hostKeys }: SshEntry): string => hostKeys.map((key) => `${alias} ${key}\n`).join('')
