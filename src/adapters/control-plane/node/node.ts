import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { getuid, pid } from 'node:process'
import { Failure, isRecord, recordIn, seconds } from '../../../std/index.ts'
import { ARCHITECTURE } from '../programs/tools.ts'
import { removeTree } from '../servers/folder.ts'
import { callKubectl } from '../servers/kubectl.ts'
import type { Layout } from '../servers/layout.ts'
import { run } from '../servers/run.ts'
import { launch, logOf, type Server } from '../servers/server.ts'
import { writeNodeCredentials } from './credentials.ts'
import { type NodePrograms, rootOf } from './node-programs.ts'
import { NODE_FOLDER } from './node-recipe.ts'

/** The name of a node of ours. Each has a network of its own, so that two of them may have the same. */
export const NODE_NAME = 'node-1'

interface NodeLaunch {
  layout: Layout
  programs: NodePrograms
  /** The URL of the API server, the same within the network of the node and without. */
  url: string
  detached: boolean
  /** Its network has a way out, see `egressOf`. */
  hasEgress: boolean
  env: Record<string, string | undefined> | undefined
}

/** Why this machine can have no node of ours, fit for a sentence; nothing where it can. */
export async function whyNoNode(): Promise<string | undefined> {
  if (platform() !== 'linux') return `a real node needs Linux, and this is ${platform()}`
  if (getuid?.() !== 0) return 'a real node needs root, for its namespaces and cgroups'
  if (!existsSync('/dev/net/tun')) return 'a real node needs /dev/net/tun, for its way out'
  if (!existsSync('/proc/sys/net/bridge')) return 'a real node needs br_netfilter (`modprobe br_netfilter`), for its network'
  if (!existsSync('/proc/net/ip_tables_names')) return 'a real node needs ip_tables (`modprobe iptable_filter`), for its firewall'
  if (hierarchies().length === 0) return 'a real node needs cgroup v1, and this machine has v2'
  try {
    await run('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, 'true'])
    return undefined
  } catch (thrown) {
    return `a real node needs namespaces of its own: ${Failure.from(thrown).message}`
  }
}

/** Those of the node, by the flags of unshare(1). */
const NAMESPACES = ['--net', '--mount', '--propagation', 'private', '--uts', '--ipc', '--pid', '--cgroup', '--fork']

/**
 * Starts a node: namespaces of its own for its network, mounts, processes and names, a root of Debian's programs, containerd, a kubelet,
 * kube-proxy, a firewall and DNS. All of it ends with its first process, and nothing of it is seen outside but its folder and its
 * cgroups. It waits for the API server by itself.
 */
export async function launchNode({ layout, programs, url, detached, hasEgress, env }: NodeLaunch): Promise<Server> {
  const at = (name: string) => join(layout.node, name)
  // The node's own files begin anew each time; images, volumes and logs stay.
  for (const name of ['upper', 'work', 'conf', 'kubelet', 'pid']) removeTree(at(name))
  for (const name of ['upper', 'work', 'kubelet', 'root', 'containerd', 'volumes', 'log'])
    mkdirSync(at(name), { recursive: true })
  cpSync(join(NODE_FOLDER, 'conf'), at('conf'), { recursive: true })
  await writeNodeCredentials(layout, url, at('conf'), NODE_NAME)
  const variables = {
    STATE: layout.node,
    ROOT: rootOf(programs),
    PROGRAMS: programs.folder,
    NODE: NODE_NAME,
    NAMESERVER: hasEgress ? NAMESERVER : '',
    MACHINE: readlinkSync('/proc/self/ns/mnt'),
    HIERARCHIES: hierarchies().join(' '),
    CGROUP: cgroupOf(layout.dir),
    NAMESPACES: NAMESPACES.join(' '),
  }
  return launch({
    name: 'node',
    program: 'env',
    flags: [...Object.entries(variables).map(([name, value]) => `${name}=${value}`), 'sh', join(NODE_FOLDER, 'start.sh')],
    dir: layout.dir,
    log: logOf(layout.logs, 'node'),
    detached,
    env,
  })
}

interface CommandLine {
  program: string
  flags: string[]
}

/** Passes connections to ports of the machine's loopback on to the same ports in the network of the node. */
export const forwardInto = ({ folder }: NodePrograms, ports: readonly number[]): CommandLine => ({
  program: join(folder, 'bin', 'forward'),
  flags: [`/proc/${pid}/ns/net`, ...ports.map(String)],
})

/** Brings images from a file to the node's containerd, where the kubelet looks for them. */
export const importing = ({ folder }: NodePrograms, layout: Layout, file: string): CommandLine => ({
  program: join(folder, 'bin', 'ctr'),
  flags: [
    '--address',
    `/proc/${pidIn(layout)}/root/run/containerd/containerd.sock`,
    '--namespace',
    'k8s.io',
    'images',
    'import',
    file,
  ],
})

/** The name server that slirp4netns gives a network, which asks the machine's. */
const NAMESERVER = '10.0.2.3'

/**
 * It leaves the folder for an empty one, and so a shell stays, by which it is known; it ends with that. It unmounts what it leaves: where
 * mounts are shared, as systemd has them, the machine's would go, too.
 */
const STAYING = 'setpriv --pdeathsig KILL unshare --mount --propagation private "$@" & wait'

/**
 * Lets the network of the node out to wherever the machine gets, over connections that this program opens (slirp4netns(1)). The
 * machine's loopback cannot be reached through it, and the machine's own network stays as it is.
 */
export function egressOf(programs: NodePrograms, layout: Layout): CommandLine {
  const at = (...names: string[]) => join(rootOf(programs), ...names)
  const [machine, loader] = ARCHITECTURE === 'arm64' ? ['aarch64', 'ld-linux-aarch64.so.1'] : ['x86_64', 'ld-linux-x86-64.so.2']
  const folder = `${machine}-linux-gnu`
  const harmless = ['--enable-sandbox', '--enable-seccomp', '--disable-host-loopback']
  const network = ['--configure', '--mtu=65520', '--netns-type=path', networkOf(layout), 'tap0']
  // The machine need not have its libraries, and so its loader is run in its place.
  const loaded = [at('usr', 'lib', folder, loader), '--library-path', at('usr', 'lib', folder), at('usr', 'bin', 'slirp4netns')]
  return { program: 'sh', flags: ['-c', STAYING, 'slirp4netns', ...loaded, ...harmless, ...network] }
}

/** Pods can run. `since`: what an earlier start in the folder left says nothing (milliseconds). */
export async function isNodeReady(kubectl: string, kubeconfig: string, since: number): Promise<boolean> {
  const words = ['get', 'node', NODE_NAME, '--ignore-not-found', '--output', 'json']
  const { status } = recordIn(await callKubectl(kubectl, kubeconfig, words)) ?? {}
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
  const ready = conditions.find((condition) => isRecord(condition) && condition.type === 'Ready' && condition.status === 'True')
  // In whole seconds.
  return isRecord(ready) && Date.parse(String(ready.lastHeartbeatTime)) >= since - seconds(1)
}

/** The name of the cgroup that a node has in each hierarchy: another one for each folder. */
export const cgroupOf = (dir: string): string => `berth-${createHash('sha256').update(dir).digest('hex').slice(0, 8)}`

/** What runs a program in the network of the node and else on the machine, as soon as the node has a network of its own. */
export function wayInto(layout: Layout): string[] | undefined {
  if (!existsSync(pidOf(layout))) return undefined
  const network = networkOf(layout)
  const isOwn = existsSync(network) && readlinkSync(network) !== readlinkSync('/proc/self/ns/net')
  return isOwn ? ['nsenter', `--net=${network}`, '--'] : undefined
}

/**
 * The same with the name server of the way out: that of the machine may be on its loopback, which is another one here. It hides a file
 * from one process and those it starts, and never in the machine's own mount namespace.
 */
export const withNames = ({ node }: Layout): string[] => {
  const file = join(node, 'resolv.conf')
  writeFileSync(file, `nameserver ${NAMESERVER}\n`)
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', HIDING, 'sh', readlinkSync('/proc/self/ns/mnt'), file]
}

const HIDING = `
[ "$(readlink /proc/self/ns/mnt)" != "$1" ] || exit 1
[ ! -e /etc/resolv.conf ] || mount --bind "$2" /etc/resolv.conf
shift 2
exec "$@"`

const pidOf = ({ node }: Layout): string => join(node, 'pid')

const pidIn = (layout: Layout): string => readFileSync(pidOf(layout), 'utf8').trim()

const networkOf = (layout: Layout): string => `/proc/${pidIn(layout)}/ns/net`

/** The names of the machine's hierarchies of cgroup v1, each of which has controllers of its own; none where it has v2 (cgroups(7)). */
const hierarchies = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => / - cgroup /.test(line))
    .map((line) => line.split(' ')[4] ?? '')
    .flatMap((point) => (point.startsWith(CGROUPS) ? [point.slice(CGROUPS.length)] : []))

const CGROUPS = '/sys/fs/cgroup/'
