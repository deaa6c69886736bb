import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, NODE_ADDRESS } from '../../adapters/control-plane/index.ts'
import { recordIn } from '../../std/index.ts'

/** What the programs of a local installation listen on. */
const LISTENERS = ['git', 'kas', 'kas-operations', 'webhooks', 'git-credentials', 'kubernetes-api', 'operator'] as const
export type ListenerName = (typeof LISTENERS)[number]

/** Where the programs run: on the machine, or in the network of a real node, so that its pods reach them. */
export interface LocalNetwork {
  hasNode: boolean
  /** Runs a program there. */
  enter: readonly string[]
  ports: Partial<Record<ListenerName, number>>
}

/** Pods have a use for these; the others are for people, and for the programs themselves. */
const FOR_PODS: readonly ListenerName[] = ['git', 'kas', 'webhooks', 'git-credentials']

/** The address to listen on: loopback, and where pods are to reach it, every one in the node's network. */
export function listenAddressOf({ hasNode, ports }: LocalNetwork, listener: ListenerName): { host: string; port: number } {
  const isForPods = hasNode && FOR_PODS.includes(listener)
  return { host: isForPods ? EVERYWHERE : LOOPBACK, port: ports[listener] ?? 0 }
}

const EVERYWHERE = '0.0.0.0'
const LOOPBACK = '127.0.0.1'

/** An address, or a URL, at which a program listens, for this machine: the node's ports are forwarded. */
export const forMachine = (address: string): string => address.replace(EVERYWHERE, LOOPBACK)

/** One of those for pods, which reach it at the node's address. Those of simulated nodes reach nothing. */
export const forPods = ({ hasNode }: Pick<LocalNetwork, 'hasNode'>, address: string): string =>
  hasNode ? address.replace(LOOPBACK, NODE_ADDRESS) : address

/**
 * Ports of the folder: the same at each start while nobody else has them, for remotes of clones and GitProjects in the folder's etcd name
 * the Git server's. Only those that must be known before the programs start.
 */
export async function portsIn(dir: string, hasNode: boolean): Promise<LocalNetwork['ports']> {
  const file = join(dir, 'ports.json')
  const before = portsBefore(file)
  const ports: LocalNetwork['ports'] = {}
  for (const name of hasNode ? LISTENERS : (['git'] as const)) {
    const known = before[name]
    ports[name] = await freePort(typeof known === 'number' ? known : undefined, Object.values(ports))
  }
  writeFileSync(file, `${JSON.stringify({ ...before, ...ports })}\n`)
  return ports
}

function portsBefore(file: string): Record<string, unknown> {
  try {
    return recordIn(readFileSync(file, 'utf8')) ?? {}
  } catch {
    return {} // There is none before the first start.
  }
}
