import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  acquireNode,
  findNode,
  freePort,
  NODE_ADDRESS,
  type NodePrograms,
  type ProgressReport,
  whyNoNode,
} from '../../adapters/control-plane/index.ts'
import { recordIn } from '../../std/index.ts'
import type { Shell } from '../shell.ts'

/** What the programs of a local installation listen on. */
const LISTENERS = ['git', 'kas', 'kas-operations', 'webhooks', 'git-credentials', 'kubernetes-api', 'operator'] as const
export type ListenerName = (typeof LISTENERS)[number]

/** Where the programs run: on the machine, or in the network of a real node, so that its pods reach them. */
export interface LocalNetwork {
  /** Runs a program there. */
  enter: readonly string[]
  ports: Partial<Record<ListenerName, number>>
}

/** The address to listen on. Everything in a node's network is its own; on the machine nobody else is to reach the programs. */
export function listenAt({ enter, ports }: LocalNetwork, listener: ListenerName): { host: string; port: number } {
  return { host: enter.length > 0 ? EVERYWHERE : '127.0.0.1', port: ports[listener] ?? 0 }
}

const EVERYWHERE = '0.0.0.0'

/** An address, or a URL, at which a program listens, as this machine reaches it: the node's ports are forwarded. */
export const fromMachine = (address: string): string => address.replace(EVERYWHERE, '127.0.0.1')

/** The same as pods reach it. Pods of nodes that are simulated reach nothing. */
export const fromPods = (address: string): string => address.replace(EVERYWHERE, NODE_ADDRESS)

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
    let port = await freePort(typeof known === 'number' ? known : undefined)
    while (Object.values(ports).includes(port)) port = await freePort()
    ports[name] = port
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

/** A real node where the machine can have one, or only where its programs are made already. */
export type NodeWish = 'if-possible' | 'if-made'

/** The programs of a real node; where there is none, a line says why. */
export async function nodeFor(
  wish: NodeWish,
  { env, signal }: Pick<Shell, 'env' | 'signal'>,
  report: ProgressReport,
): Promise<NodePrograms | undefined> {
  const why = await whyNoNode()
  if (why) {
    report.line(`Pods are simulated: ${why}.`)
    return undefined
  }
  if (wish === 'if-made' && !findNode({ env })) {
    report.line('Pods are simulated: `--node` makes a real node, whose programs take some minutes the first time.')
    return undefined
  }
  return acquireNode({ env, report, signal })
}
