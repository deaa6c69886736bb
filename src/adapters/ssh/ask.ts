import ssh2 from 'ssh2'
import { beginningOf, Failure, type Secret, seconds } from '../../std/index.ts'

/** What somebody has a server do, and how they prove who they are. */
export interface SshQuestion {
  host: string
  port: number
  /** The only one that is taken: `ssh-ed25519 AAAA…`. Nothing is said to a host with another. */
  hostKey: string
  user: string
  password: Secret<string>
  command: string
  signal: AbortSignal
}

export interface SshAnswer {
  code: number
  stdout: string
  stderr: string
}

const MOST_BYTES = 64 * 1024
const WITHIN = seconds(20)

/** Runs one command. Throws `unauthorized` where the password is not accepted, `unavailable` where nobody answers. */
export function askOverSsh({ host, port, hostKey, user, password, command, signal }: SshQuestion): Promise<SshAnswer> {
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<SshAnswer>()
  const known = { isOther: false }
  const isPinned = (key: Buffer): boolean => {
    known.isOther = `ssh-ed25519 ${key.toString('base64')}` !== hostKey
    return !known.isOther
  }
  const stop = () => {
    reject(new Failure('cancelled', `${host}:${port} was not waited for`))
    client.destroy()
  }
  client.on('error', (error) => reject(known.isOther ? otherHost(host, port) : failureOf(error, `${host}:${port}`)))
  client.on('close', () => reject(new Failure('unavailable', `${host}:${port} hung up before it answered`)))
  client.on('ready', () => {
    client.exec(command, (error, channel) => {
      if (error) return reject(Failure.from(error))
      const said = { stdout: '', stderr: '' }
      const hear = (from: keyof typeof said) => (bytes: Buffer) => {
        said[from] = beginningOf(said[from] + bytes.toString('utf8'), MOST_BYTES)
      }
      channel.on('data', hear('stdout'))
      channel.stderr.on('data', hear('stderr'))
      channel.on('close', (code: unknown) => resolve({ code: typeof code === 'number' ? code : -1, ...said }))
    })
  })
  if (signal.aborted) {
    stop()
    return promise
  }
  signal.addEventListener('abort', stop, { once: true })
  client.connect({
    ...{ host, port, username: user, password: password.reveal(), readyTimeout: WITHIN, keepaliveInterval: seconds(5) },
    algorithms: { serverHostKey: ['ssh-ed25519'] },
    hostVerifier: isPinned,
    authHandler: ['password'],
  })
  return promise.finally(() => {
    signal.removeEventListener('abort', stop)
    client.end()
  })
}

const otherHost = (host: string, port: number): Failure =>
  new Failure('forbidden', `${host}:${port} shows another host key than the cluster tells of it`, {
    remedy: 'Nothing was said to it. Look at where the name leads, or ask the platform engineers whether the key was changed.',
  })

function failureOf(error: Error & { level?: string }, at: string): Failure {
  if (error.level === 'client-authentication')
    return new Failure('unauthorized', `${at} does not accept the token`, { cause: error })
  return new Failure('unavailable', `${at} is not reached: ${beginningOf(error.message, 200)}`, {
    cause: error,
    remedy: 'Look at whether that name leads to the proxy from here.',
  })
}
