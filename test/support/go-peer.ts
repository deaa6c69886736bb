import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Failure, minutes } from '../../src/std/index.ts'

const SOURCE = fileURLToPath(new URL('./go-peer', import.meta.url))
const FILES = ['go.mod', 'go.sum', 'main.go', 'serve.go', 'ssh.go']

/** Why the tests with it are left out: whoever tests with a cluster of his own needs no Go. `undefined` where there is one. */
export async function lacksGo(): Promise<string | undefined> {
  if (existsSync(placeOf().program)) return undefined
  try {
    await promisify(execFile)('go', ['version'])
    return undefined
  } catch {
    return 'there is no Go on this machine, and foreign peers are programs in Go: install Go 1.26 or newer'
  }
}

function placeOf(): { folder: string; program: string } {
  const hash = createHash('sha256')
  for (const file of FILES) hash.update(readFileSync(join(SOURCE, file)))
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'berth')
  const folder = join(cache, 'go-peer', hash.digest('hex').slice(0, 16))
  return { folder, program: join(folder, 'go-peer') }
}

/** A peer of gRPC for Go, built when its source is new here. It needs Go, and the Go modules that the control plane has too. */
export async function goPeer(): Promise<string> {
  const { folder, program } = placeOf()
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const beside = `${program}.${process.pid}`
  try {
    await promisify(execFile)('go', ['build', '-trimpath', '-o', beside, '.'], {
      cwd: SOURCE,
      env: { ...process.env, CGO_ENABLED: '0' },
      timeout: minutes(8),
    })
  } catch (cause) {
    throw new Failure('unavailable', 'the Go peer of the tests cannot be built', {
      cause,
      remedy: 'Install Go 1.26 or newer, with a module cache or a module proxy in reach.',
    })
  }
  // Whoever builds the same at the same time makes the same.
  renameSync(beside, program)
  return program
}

export interface GoServer {
  address: string
  stop(): Promise<void>
}

/** The peer as a server, as kas of GitLab is one. It ends with this process. */
export async function goServer(program: string): Promise<GoServer> {
  const { lines, stop } = await serving(program, ['serve', '127.0.0.1:0'], 1)
  return { address: lines[0] ?? '', stop }
}

/** Starts the peer, and reads its first lines. */
async function serving(program: string, parameters: string[], count: number) {
  const child = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === count) break
  return {
    lines,
    async stop() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}

export interface SshHost {
  /** `127.0.0.1:34567` */
  address: string
  /** Its line of known_hosts. */
  knownHosts: string
  stop(): Promise<void>
}

/** The peer as a Git host over SSH, for the repositories in a folder and whoever has the key. It ends with this process. */
export async function goSshHost(program: string, folder: string, publicKeyFile: string): Promise<SshHost> {
  const { lines, stop } = await serving(program, ['ssh', '127.0.0.1:0', folder, publicKeyFile], 2)
  const [address = '', key = ''] = lines
  const [host, port] = address.split(':')
  return { address, knownHosts: `[${host}]:${port} ${key}`, stop }
}

/** Ends when the peer has done all that; throws with what it said when something was not as it should be. */
export async function askPeer(program: string, address: string, scenarios: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, [address, ...scenarios], { timeout: minutes(2) }).catch(
    (thrown: Error & { stdout?: string }) => {
      throw new Failure('internal', `the Go client says: ${thrown.stdout ?? thrown.message}`, { cause: thrown })
    },
  )
  return stdout.trim().split('\n')
}
