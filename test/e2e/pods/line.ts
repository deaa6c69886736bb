import { join } from 'node:path'
import { startServing } from '../../support/go-program.ts'

/** Of a line. */
export interface End {
  /** Runs a program in the network of a node; empty for that of the machine. */
  enter: readonly string[]
  /** As in `10.96.0.7:8150`. */
  address: string
}

/**
 * Whoever connects to one address, in the network of one node, reaches the other, in that of another node, until `stop`. Networks are
 * apart and files are not: there is a Unix socket in between.
 */
export async function lineBetween(from: End, to: End, socket: string): Promise<{ stop(): Promise<void> }> {
  const relay = (enter: readonly string[], listen: string, target: string) => {
    const [program = process.execPath, ...words] = [
      ...enter,
      process.execPath,
      join(import.meta.dirname, 'relay.ts'),
      listen,
      target,
    ]
    return startServing(program, words, 1)
  }
  const ends = [await relay(to.enter, socket, to.address), await relay(from.enter, from.address, socket)]
  return {
    async stop() {
      for (const end of ends) await end.stop()
    },
  }
}
