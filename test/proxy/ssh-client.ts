import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Why tests with the client of OpenSSH are left out; `undefined` where it is. */
export function lacksOpenSsh(): string | undefined {
  try {
    execFileSync('ssh', ['-V'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'there is no ssh here; it is in the package openssh-client'
  }
}

interface How {
  key?: string
  env?: Record<string, string>
  /** Before all others: of a setting OpenSSH takes the first. */
  first?: string[]
  /** It may ask for a password. */
  isAsked?: boolean
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A person's own files for OpenSSH: keys, and the hosts that they know. Nothing of the machine's is read. */
export interface SshClient {
  folder: string
  /** Makes a key, and gives the line that says it to others. */
  makeKey(name: string, ...kind: string[]): Promise<string>
  /** Knows the host by that line. */
  know(line: string): Promise<void>
  /** The words that come before those of a test. */
  options(key: string): string[]
  start(program: 'ssh' | 'scp' | 'sftp', words: string[], how?: How): ChildProcess
  /** To its end, with this input. */
  run(program: 'ssh' | 'scp' | 'sftp', words: string[], how?: How & { input?: string }): Promise<Ended>
  /** Logs in with this password, and runs `true`. */
  byPassword(user: string, password: string): Promise<Ended>
  /** Logs in with this password, and stays. */
  startByPassword(user: string, password: string): ChildProcess
  close(): Promise<void>
}

const BY_PASSWORD = ['-o', 'PreferredAuthentications=password', '-o', 'NumberOfPasswordPrompts=1']

/** For the server at `host:port`. */
export async function sshClient(address: string): Promise<SshClient> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-ssh-'))
  const [host = '', port = ''] = address.split(':')
  const known = join(folder, 'known_hosts')
  const options = (key: string, isAsked = false) => {
    const settings = [
      ...[
        'IdentityAgent=none',
        'IdentitiesOnly=yes',
        `BatchMode=${isAsked ? 'no' : 'yes'}`,
        'StrictHostKeyChecking=yes',
        'LogLevel=INFO',
      ],
      ...[`IdentityFile=${join(folder, key)}`, `UserKnownHostsFile=${known}`, 'GlobalKnownHostsFile=/dev/null'],
      ...[`HostName=${host}`, `Port=${port}`, 'HostKeyAlias=berth'],
    ]
    return ['-F', 'none', ...settings.flatMap((setting) => ['-o', setting])]
  }
  const answers = join(folder, 'password')
  await writeFile(answers, '#!/bin/sh\necho "$PASSWORD"\n', { mode: 0o700 })
  const asking = (password: string) => ({
    env: { SSH_ASKPASS: answers, SSH_ASKPASS_REQUIRE: 'force', PASSWORD: password },
    isAsked: true,
  })
  const client: SshClient = {
    folder,
    options,
    async makeKey(name, ...kind) {
      await run('ssh-keygen', [
        '-q',
        '-N',
        '',
        '-C',
        'a test',
        '-f',
        join(folder, name),
        ...(kind.length > 0 ? kind : ['-t', 'ed25519']),
      ])
      return (await readFile(join(folder, `${name}.pub`), 'utf8')).trim()
    },
    know: (line) => writeFile(known, `berth ${line}\n`),
    start: (program, words, { key = 'key', env = {}, first = [], isAsked = false } = {}) =>
      spawn(program, [...first, ...options(key, isAsked), ...words], { env: { PATH: process.env.PATH, HOME: folder, ...env } }),
    async run(program, words, { input = '', ...how } = {}) {
      const child = client.start(program, words, how)
      const said = { stdout: '', stderr: '' }
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        said.stdout += text
      })
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said.stderr += text
      })
      // It may have ended before it has read everything.
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
      const [code] = await once(child, 'close')
      return { code, ...said }
    },
    byPassword: (user, password) => client.run('ssh', [...BY_PASSWORD, `${user}@berth`, 'true'], asking(password)),
    startByPassword: (user, password) => client.start('ssh', [...BY_PASSWORD, '-N', `${user}@berth`], asking(password)),
    close: () => rm(folder, { recursive: true }),
  }
  return client
}
