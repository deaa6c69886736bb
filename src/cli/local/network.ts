import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts, holderOf, isFree, isPort, NODE_ADDRESS, type PortHolder } from '../../adapters/control-plane/index.ts'
import { Failure, recordIn } from '../../std/index.ts'

/** What the programs of a local installation listen on, and which of them it is. */
const LISTENERS = {
  git: 'the Git server',
  kas: 'kas, for agents',
  'kas-operations': 'kas, for probes and metrics',
  webhooks: 'kas, for webhooks',
  'git-credentials': 'kas, for Git in workspaces',
  'kubernetes-api': 'kas, for kubectl',
  operator: 'the operator, for probes and metrics',
} as const
export type ListenerName = keyof typeof LISTENERS

const API_SERVER = 'api-server'
const OWNERS = { [API_SERVER]: 'the API server', ...LISTENERS }
type PortName = keyof typeof OWNERS
const isPortName = (name: string): name is PortName => name in OWNERS
const PORT_NAMES = Object.keys(OWNERS).filter(isPortName)

/** Where the programs run: on the machine, or in the network of a real node, so that its pods reach them. */
export interface LocalNetwork {
  hasNode: boolean
  /** Runs a program there. */
  enter: readonly string[]
  /** The kernel chooses those that are not given. */
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

/** The ports of a folder. */
interface FolderPorts {
  apiServer: number
  listeners: Record<ListenerName, number>
}

/**
 * The same at each start: targets, clones, agents, kubeconfigs and webhooks name them. So one that somebody else has by now is an error,
 * and never another one in its place. What listened on them before has to be ended. An API server of the folder's own is not everywhere.
 */
export async function portsIn(dir: string, { hasApiServer }: { hasApiServer: boolean }): Promise<FolderPorts> {
  const file = fileIn(dir)
  const before = portsBefore(file)
  const busy = (await takenOf(before)).filter(([name]) => hasApiServer || name !== API_SERVER)
  if (busy.length > 0) throw areTaken(busy, file)
  const missing = PORT_NAMES.filter((name) => !before.has(name))
  const made = missing.length > 0 ? await freePorts(missing.length, [...before.values()]) : []
  const all = new Map([...before, ...missing.map((name, at) => [name, made[at] ?? 0] as const)])
  if (missing.length > 0) {
    // Written beside and renamed: an interruption must not leave half of it.
    writeFileSync(`${file}.new`, `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`)
    renameSync(`${file}.new`, file)
  }
  const portOf = (name: PortName): number => all.get(name) ?? 0
  return {
    apiServer: portOf(API_SERVER),
    listeners: {
      git: portOf('git'),
      kas: portOf('kas'),
      'kas-operations': portOf('kas-operations'),
      webhooks: portOf('webhooks'),
      'git-credentials': portOf('git-credentials'),
      'kubernetes-api': portOf('kubernetes-api'),
      operator: portOf('operator'),
    },
  }
}

const fileIn = (dir: string): string => join(dir, 'ports.json')

/** Whether the folder was started before. */
export const hasPorts = (dir: string): boolean => existsSync(fileIn(dir))

/** The next start takes new ones. */
export const forgetPorts = (dir: string): void => rmSync(fileIn(dir), { force: true })

/** True where somebody listens on one of the folder's. */
export const hasTakenPorts = async (dir: string): Promise<boolean> => (await takenOf(portsBefore(fileIn(dir)))).length > 0

async function takenOf(ports: ReadonlyMap<PortName, number>): Promise<[PortName, number][]> {
  const all = [...ports]
  const areFree = await Promise.all(all.map(([, port]) => isFree(port)))
  return all.filter((_, at) => !areFree[at])
}

/** There is no file before the first start. What cannot be read is not replaced by other ports. */
function portsBefore(file: string): Map<PortName, number> {
  if (!existsSync(file)) return new Map()
  const read = recordIn(readFileSync(file, 'utf8'))
  const entries = Object.entries(read ?? {})
  const ports = entries.flatMap(([name, port]) => (isPortName(name) && isPort(port) ? [[name, port] as const] : []))
  const isGood = read && ports.length === entries.length && new Set(ports.map(([, port]) => port)).size === ports.length
  if (isGood) return new Map(ports)
  throw new Failure('invalid', `${file} is not JSON with ports, each another one`, {
    reason: 'PortsUnreadable',
    remedy: `It has ${PORT_NAMES.join(', ')}, each a number from 1 to 65535. Correct it; what is left out gets a new port.`,
  })
}

function areTaken(busy: readonly (readonly [PortName, number])[], file: string): Failure {
  const holders = busy.map(([, port]) => holderOf(port))
  const said = busy.map(([name, port], at) => `port ${port} of ${OWNERS[name]} is taken by ${sayHolder(holders[at], port)}`)
  const folders = new Set(holders.flatMap((holder) => (holder?.isBerth ? [`\`berth down --dir ${holder.dir}\``] : [])))
  const end = folders.size > 0 ? `End it with ${[...folders].join(' and ')}` : 'End that program'
  const names = busy.map(([name]) => `"${name}"`).join(', ')
  return new Failure('unavailable', said.join('; '), {
    reason: 'PortTaken',
    remedy: `${end}, and do it again. Or take ${names} out of ${file} for a new port: what names the old one has to follow.`,
  })
}

/** Who has it where the system says so; Berth of another folder most likely. */
const sayHolder = (holder: PortHolder | undefined, port: number): string =>
  holder
    ? `process ${holder.pid} (${holder.program} in ${holder.dir})`
    : `a program of somebody else (\`ss -ltnp 'sport = :${port}'\` shows it to root)`
