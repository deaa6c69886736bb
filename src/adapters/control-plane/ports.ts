import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { Failure } from '../../std/index.ts'

const LOWEST = 20_000
/** From here on they are for Services of type NodePort: whoever may make one could take the port over (kube-apiserver's default). */
const FIRST_NODE_PORT = 30_000
const TRIES = 50

/**
 * A port that is free on loopback and that the kernel gives to no outgoing connection. A port of the kernel's own choice lies
 * in that range, and while a server is being restarted, a client that tries to reach it may be given the very port it tries.
 * `before`: the port of an earlier run, which is taken again while it is free. `taken`: those that others are going to listen on.
 */
export async function freePort(before?: number, taken: readonly number[] = []): Promise<number> {
  const isFit = async (port: number) => !taken.includes(port) && (await isFree(port))
  if (before !== undefined && isPort(before) && (await isFit(before))) return before
  const end = Math.min(firstEphemeral(), FIRST_NODE_PORT)
  for (let left = TRIES; left > 0; left--) {
    const port = randomInt(LOWEST, end)
    if (await isFit(port)) return port
  }
  throw new Failure('unavailable', `none of ${TRIES} ports between ${LOWEST} and ${end} is free on loopback`)
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536

/** Linux' range for outgoing connections begins at 32768 unless it was set otherwise. */
function firstEphemeral(): number {
  try {
    const [first = ''] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/)
    return Math.max(LOWEST + 1000, Number(first))
  } catch {
    return 32_768
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const listener = createServer()
    listener.once('error', () => resolve(false))
    listener.listen(port, '127.0.0.1', () => listener.close(() => resolve(true)))
  })
