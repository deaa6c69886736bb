import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../std/index.ts'
import type { Pin } from './reach.ts'
import type { Remote, SshKey } from './remote.ts'

/** Configuration for git: names and their values. */
export type Settings = readonly (readonly [key: string, value: string])[]

/** Puts the keys of a remote into files, where git and ssh look for them, for as long as the work takes. */
export async function withKeys<T>(
  home: string,
  remote: Remote,
  pin: Pin | undefined,
  work: (settings: Settings) => Promise<T>,
): Promise<T> {
  const { url, ssh, authorities } = remote
  const { protocol, origin } = new URL(url)
  const isSsh = protocol === 'ssh:'
  if (!isSsh && authorities === undefined) return work([])
  const folder = await mkdtemp(join(home, 'keys-'))
  try {
    const settings = isSsh
      ? await settingsForSsh(folder, url, ssh, pin)
      : [[`http.${origin}/.sslCAInfo`, await put(folder, 'authorities.pem', authorities ?? '')] as const]
    return await work(settings)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function settingsForSsh(folder: string, url: string, key: SshKey | undefined, pin: Pin | undefined): Promise<Settings> {
  if (!key || !pin)
    throw new Failure('invalid', `url ${url}: over SSH it needs a private key, and known_hosts to know the host by`, {
      reason: 'KeyMissing',
      remedy: 'Put them into a Secret under ssh-privatekey and known_hosts, and name it in spec.credentialsSecretRef.',
    })
  const lines = configFor(
    pin,
    // ssh reads no key without a line break at its end, and none with those of Windows.
    await put(folder, 'key', `${key.privateKey.reveal().replaceAll('\r\n', '\n').trimEnd()}\n`),
    await put(folder, 'known_hosts', `${key.knownHosts}\n`),
  )
  const config = await put(folder, 'config', `${lines.join('\n')}\n`)
  return [
    ['ssh.variant', 'ssh'],
    ['core.sshCommand', `ssh -F '${config.replaceAll("'", `'\\''`)}'`],
  ]
}

/**
 * ssh_config(5): this key and no other, this host's keys and no others, the address that was checked, and nothing interactive.
 * known_hosts names a host by its name, with the port where that is not 22.
 */
function configFor({ host, port, addresses }: Pin, key: string, knownHosts: string): string[] {
  return [
    `HostName ${addresses[0]}`,
    `HostKeyAlias ${port === '22' ? host : `[${host}]:${port}`}`,
    `IdentityFile ${inConfig(key)}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    'PreferredAuthentications publickey',
    `UserKnownHostsFile ${inConfig(knownHosts)}`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
    'UpdateHostKeys no',
    'BatchMode yes',
    'ClearAllForwardings yes',
    'ConnectTimeout 30',
    'ServerAliveInterval 15',
    'ServerAliveCountMax 2',
    'LogLevel ERROR',
  ]
}

/** A percent sign begins one of ssh's tokens. */
const inConfig = (file: string): string => `"${file.replaceAll('%', '%%')}"`

async function put(folder: string, name: string, content: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, content, { mode: 0o600 })
  return file
}
