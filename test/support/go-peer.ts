import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Failure, minutes } from '../../src/std/index.ts'
import { buildGo, lacksGo, startServing } from './go-program.ts'

const SOURCE = join(import.meta.dirname, 'go-peer')

/** A peer of gRPC for Go. */
export const goPeer = (): Promise<string> => buildGo(SOURCE)

/** Why the tests with it are left out. */
export const lacksGoPeer = (): Promise<string | undefined> => lacksGo(SOURCE)

export interface GoServer {
  address: string
  stop(): Promise<void>
}

/** The peer as a server, as kas of GitLab is one. It ends with this process. */
export async function goServer(program: string): Promise<GoServer> {
  const { lines, stop } = await startServing(program, ['serve', '127.0.0.1:0'], 1)
  return { address: lines[0] ?? '', stop }
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
  const { lines, stop } = await startServing(program, ['ssh', '127.0.0.1:0', folder, publicKeyFile], 2)
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
