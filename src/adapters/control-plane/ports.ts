import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { Failure } from '../../std/index.ts'

const LOWEST = 20_000
const TRIES = 50

/**
 * A port that is free on loopback and that the kernel gives to no outgoing connection. A port of the kernel's own choice lies
 * in that range, and while a server is being restarted, a client that tries to reach it may be given the very port it tries.
 * `before`: the port of an earlier run, which is taken again while it is free.
 */
export async function freePort(before?: number): Promise<number> {
  if (before !== undefined && (await isFree(before))) return before
  for (let left = TRIES; left > 0; left--) {
    const port = randomInt(LOWEST, firstEphemeral())
    if (await isFree(port)) return port
  }
  throw new Failure('unavailable', `none of ${TRIES} ports between ${LOWEST} and ${firstEphemeral()} is free on loopback`)
}

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
