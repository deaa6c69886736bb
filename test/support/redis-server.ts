/** Redis, as Debian has it. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { debianPrograms } from './debian.ts'
import { eventually } from './verbs.ts'

const DEBIAN = debianPrograms('redis', 'Redis')

/** Why the tests with Redis are left out; `undefined` where it can be had. */
export const lacksRedis = DEBIAN.lacks

export interface RedisServer {
  readonly port: number
  /** Without a password. */
  readonly url: string
  /** Asks it something, as its own client does; gives what that prints. */
  ask(...words: string[]): Promise<string>
  /** So often each command was run since it began, commands of `ask` included. */
  commands(): Promise<Record<string, number>>
  /** From then on it neither answers nor closes anything, until it is resumed. */
  freeze(): void
  resume(): void
  /** Ends it as the kernel does when memory runs out: nothing was saved. */
  kill(): Promise<void>
  /** At the same port, empty. */
  start(): Promise<void>
  /** Ends it, and takes its folder away. */
  remove(): Promise<void>
}

interface RedisServerOptions {
  password?: string
  tls?: { key: string; cert: string }
}

/** One on loopback, in a folder of its own, which keeps nothing on disk. */
export async function startRedis({ password, tls }: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-redis-'))
  const port = await freePort()
  const file = (name: string) => join(folder, name)
  const config = ['bind 127.0.0.1', 'save ""', `dir ${folder}`, 'daemonize no', ...(password ? [`requirepass ${password}`] : [])]
  if (tls) {
    await writeFile(file('tls.key'), tls.key)
    await writeFile(file('tls.crt'), tls.cert)
    const keys = [`tls-cert-file ${file('tls.crt')}`, `tls-key-file ${file('tls.key')}`, `tls-ca-cert-file ${file('tls.crt')}`]
    config.push('port 0', `tls-port ${port}`, 'tls-auth-clients no', ...keys)
  } else config.push(`port ${port}`)
  await writeFile(file('redis.conf'), `${config.join('\n')}\n`)

  const [cli, ...cliWords] = DEBIAN.words('usr/bin/redis-cli')
  const access = tls ? ['--tls', '--cacert', file('tls.crt')] : []
  const ask = async (...words: string[]) => {
    const all = [...cliWords, '-h', '127.0.0.1', '-p', String(port), ...access, ...words]
    const { stdout } = await promisify(execFile)(cli, all, {
      env: { ...process.env, ...(password && { REDISCLI_AUTH: password }) },
      timeout: 10_000,
    })
    return stdout.trim()
  }
  let child: ChildProcess | undefined
  const server: RedisServer = {
    port,
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    ask,
    async commands() {
      const text = await ask('INFO', 'commandstats')
      return Object.fromEntries(
        [...text.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name = '', calls]) => [name, Number(calls)]),
      )
    },
    freeze: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async kill() {
      const ending = child
      if (!ending) return
      child = undefined
      const over = new Promise((resolve) => ending.once('exit', resolve))
      ending.kill('SIGKILL')
      await over
    },
    async start() {
      const [program, ...words] = DEBIAN.words('usr/bin/redis-server')
      child = spawn(program, [...words, file('redis.conf')], { stdio: 'ignore' })
      await eventually(async () => (await ask('PING')) === 'PONG')
    },
    async remove() {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}
