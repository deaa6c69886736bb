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
 * `taken`: those that others are going to listen on.
 */
export async function freePort(taken: readonly number[] = []): Promise<number> {
  const [port = 0] = await freePorts(1, taken)
  return port
}

/** Such ports, one beside the other: of two who look at the same time, hardly ever does one choose what the other has chosen. */
export async function freePorts(count: number, taken: readonly number[] = []): Promise<number[]> {
  const end = Math.min(firstEphemeral(), FIRST_NODE_PORT)
  for (let left = TRIES; left > 0; left--) {
    const first = LOWEST + count * randomInt(0, Math.floor((end - LOWEST) / count))
    const ports = Array.from({ length: count }, (_, at) => first + at)
    const areFit = await Promise.all(ports.map(async (port) => !taken.includes(port) && (await isFree(port))))
    if (areFit.every(Boolean)) return ports
  }
  throw new Failure('unavailable', `in ${TRIES} tries no ${count} ports between ${LOWEST} and ${end} were free on loopback`)
}

export const isPort = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536

/** Linux' range for outgoing connections begins at 32768 unless it was set otherwise. */
function firstEphemeral(): number {
  try {
    const [first = ''] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/)
    return Math.max(LOWEST + 1000, Number(first))
  } catch {
    return 32_768
  }
}

/** On loopback. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const listener = createServer()
    listener.once('error', () => resolve(false))
    listener.listen(port, '127.0.0.1', () => listener.close(() => resolve(true)))
  })
