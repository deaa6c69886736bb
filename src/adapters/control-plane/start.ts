import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, isFailure, systemClock } from '../../std/index.ts'
import { createNodes } from './fake-nodes.ts'
import { FLAGS, SERVERS, type ServerName } from './flags.ts'
import { lastLines, lastWords } from './last-words.ts'
import { egressOf, forwardInto, importing, isNodeReady, launchNode, wayInto, withNames } from './node/node.ts'
import type { NodePrograms } from './node/node-programs.ts'
import { freePort } from './ports.ts'
import type { ControlPlaneTools } from './programs/tools.ts'
import { isReady, waitUntil } from './ready.ts'
import { adminToken, ensureCredentials, readAuthority, writeKubeconfig } from './servers/credentials.ts'
import { removeFolder, removeTree } from './servers/folder.ts'
import { ensureFolders, type Layout, layoutOf } from './servers/layout.ts'
import { run } from './servers/run.ts'
import { endServer, launch, logOf, type Server } from './servers/server.ts'
import { endServersOf, writeState } from './state.ts'
import { createLocalStorage } from './storage.ts'

export interface Start {
  /** All state is in this folder. Started again in the same folder, the control plane has what it had. */
  dir: string
  tools: ControlPlaneTools
  /** It outlives this process; `stopControlPlane(dir)` ends it. Without, it dies with this process, however that ends. */
  detached?: boolean
  /** Of the API server: it starts there, or not at all. Without, one that is free. */
  port?: number | undefined
  /** The number of fake nodes, where there is no real one. */
  nodes?: number
  /** A real node beside the control plane, of these programs; `whyNoNode` says where it can't be. */
  node?: NodePrograms | undefined
  /** Where there is a real node: these ports of the machine's loopback lead to the same ports in its network. */
  ports?: readonly number[]
  /** Where there is a real node: its pods and its pulls of images reach what the machine reaches. */
  hasEgress?: boolean
  /** The whole environment of the servers; that of this process without it. */
  env?: Record<string, string | undefined>
  signal?: AbortSignal | undefined
}

export interface ControlPlane {
  /** The administrator's kubeconfig file. */
  kubeconfig: string
  /** The API server's URL. */
  server: string
  dir: string
  /** PEM files: what the API server shows on loopback. Others beside it may show the same. */
  tls: { certificate: string; key: string; authority: string }
  /** Ends all servers, the data stays in the folder. */
  stop(): Promise<void>
  /** Ends all servers and removes the folder. */
  remove(): Promise<void>
  /** Runs a program in the network of the node, which asks for names there; empty without one. */
  enter: readonly string[]
  /** Gives the node images: an OCI archive, or what `docker save` writes. Their names have to be whole, as in `localhost/berth:0.1.0`. */
  importImages(file: string): Promise<void>
  /** Starts one server anew, with the same port, keys and data, whatever the others are doing: for tests of bad days. */
  startServer(name: ServerName): Promise<void>
}

/** A control plane that runs, or is being started. */
interface Plane extends Omit<Start, 'dir' | 'nodes' | 'port'> {
  layout: Layout
  port: number
  url: string
  running: Map<string, Server>
  enter: readonly string[]
}

/** Brings up etcd, the API server and their companions; returns when the API server is ready and the nodes are there. */
export async function startControlPlane({ dir, nodes = 2, port, ...start }: Start): Promise<ControlPlane> {
  const layout = ensureFolders(dir)
  await endServersOf(layout) // an earlier start may have been killed before it could tidy up
  const began = systemClock.now()
  const plane = await startAll({ ...start, layout }, port)
  try {
    const { kubectl } = start.tools.paths
    if (kubectl && plane.node) {
      await createLocalStorage(kubectl, layout.kubeconfig)
      await untilNodeReady(plane, kubectl, began)
    } else if (kubectl) await createNodes(kubectl, layout.kubeconfig, nodes)
  } catch (thrown) {
    await stopAll(plane)
    throw thrown
  }
  return {
    kubeconfig: layout.kubeconfig,
    server: plane.url,
    dir: layout.dir,
    tls: { certificate: layout.certificate, key: layout.certificateKey, authority: layout.authority },
    enter: start.hasEgress ? [...plane.enter, ...withNames(layout)] : plane.enter,
    stop: () => stopAll(plane),
    async remove() {
      await stopAll(plane)
      removeFolder(layout.dir)
    },
    startServer: (name) => startServer(plane, name, { alone: true }),
    async importImages(file) {
      if (!plane.node) throw new Failure('invalid', 'a control plane without a real node has nothing that would run an image')
      await loadImages({ dir: layout.dir, node: plane.node, file, env: start.env })
    },
  }
}

interface ImageLoad extends Pick<Start, 'dir' | 'signal'> {
  node: NodePrograms
  file: string
  env?: Start['env'] | undefined
}

/** The same for a node that runs in the folder, whoever started it. */
export async function loadImages({ dir, node, file, env, signal }: ImageLoad): Promise<void> {
  const { program, flags } = importing(node, layoutOf(dir), file)
  await run(program, flags, { env, signal })
}

/** Between asking the kernel for a free port and listening on it somebody else may take it; so another is tried, unless it is `fixed`. */
async function startAll(basics: Omit<Plane, 'port' | 'url' | 'running' | 'enter'>, fixed?: number, attempts = 3): Promise<Plane> {
  prepare(basics.layout)
  const port = fixed ?? (await freePort(basics.ports))
  const plane: Plane = { ...basics, port, url: `https://127.0.0.1:${port}`, running: new Map(), enter: [] }
  try {
    const node = plane.node && (await startAround(plane, plane.node))
    for (const name of SERVERS) if (!(node && name === 'kwok')) await startServer(plane, name)
    if (node) endFirst(plane, node)
    return plane
  } catch (thrown) {
    await stopAll(plane)
    if (fixed === undefined && attempts > 1 && isFailure(thrown, 'already-exists')) return startAll(basics, fixed, attempts - 1)
    throw thrown
  }
}

/**
 * Who was killed while they made something may have left half of it: data of which etcd never elects a leader, a certificate
 * without its key. Where the control plane never was ready, nobody has had anything of it, and all of it is made anew.
 */
function prepare(layout: Layout): void {
  const { authority, kubeconfig, data, node, certificates, tokens, serviceAccountKey, serviceAccountPublicKey } = layout
  if (!existsSync(authority) && !existsSync(kubeconfig))
    for (const path of [data, node, certificates, tokens, serviceAccountKey, serviceAccountPublicKey]) removeTree(path)
  ensureCredentials(layout)
}

/** The node whose network the servers are to be in, and a way there from the machine's loopback. */
async function startAround(plane: Plane, programs: NodePrograms): Promise<Server> {
  const { layout, url, port, ports = [], hasEgress = false, detached = false, env, signal } = plane
  const node = await launchNode({ layout, programs, url, detached, hasEgress, env })
  plane.running.set('node', node)
  remember(plane)
  await waitUntil(
    () => {
      failIfEnded(plane, ['node'])
      plane.enter = wayInto(layout) ?? []
      return plane.enter.length > 0
    },
    { what: `the node in ${layout.node} has a network`, signal },
  )
  const { program, flags } = forwardInto(programs, [port, ...ports])
  await begin(plane, 'forward', entered(plane, program, flags))
  if (hasEgress) await begin(plane, 'slirp4netns', egressOf(programs, layout))
  return node
}

/** It is ready when kubelet and DNS are. */
function untilNodeReady(plane: Plane, kubectl: string, began: number): Promise<void> {
  const { layout, running, signal } = plane
  const what = `the node is ready, whose logs are in ${join(layout.node, 'log')}`
  return waitUntil(
    () => {
      failIfEnded(plane, [...running.keys()])
      return isNodeReady(kubectl, layout.kubeconfig, began)
    },
    { what, signal },
  )
}

/** Launches a server, which a later process will know of. */
async function begin(plane: Plane, name: string, command: { program: string; flags: readonly string[] }): Promise<void> {
  const { layout, detached = false, env } = plane
  plane.running.set(name, await launch({ name, ...command, dir: layout.dir, log: logOf(layout.logs, name), detached, env }))
  remember(plane)
}

/** The same, in the network of the node where there is one. */
function entered({ enter }: Plane, program: string, flags: readonly string[]): { program: string; flags: readonly string[] } {
  const [first = program, ...rest] = [...enter, program, ...flags]
  return { program: first, flags: rest }
}

/** The one that was started last ends first. The API server waits for whoever listens to it, and so the node ends before it. */
function endFirst(plane: Plane, server: Server): void {
  plane.running.delete(server.name)
  plane.running.set(server.name, server)
  remember(plane)
}

async function startServer(plane: Plane, name: ServerName, { alone = false } = {}): Promise<void> {
  const { layout, tools, port } = plane
  const program = tools.paths[name]
  if (!program) return
  const flags = FLAGS[name](layout, { port, hasNode: plane.node !== undefined })
  await begin(plane, name, entered(plane, program, flags))
  if (name === 'kube-apiserver') await untilReady(plane, alone ? [name] : [...plane.running.keys()])
}

/** `needed`: servers without which it will never be. */
async function untilReady(plane: Plane, needed: readonly string[]): Promise<void> {
  const { layout, url, signal } = plane
  await waitUntil(
    async () => {
      failIfEnded(plane, needed)
      const authority = readAuthority(layout)
      return authority !== undefined && isReady(url, authority, adminToken(layout))
    },
    { what: `the API server in ${layout.dir} is ready`, signal },
  )
  const authority = readAuthority(layout) ?? ''
  writeFileSync(layout.authority, authority)
  writeKubeconfig(layout, url, authority)
}

function failIfEnded({ running, layout }: Plane, needed: readonly string[]): void {
  const ended = [...running].find(([name, server]) => needed.includes(name) && server.hasExited())
  if (!ended) return
  const log = logOf(layout.logs, ended[0])
  const code = lastLines(log).includes('address already in use') ? 'already-exists' : 'internal'
  throw new Failure(code, `${ended[0]} ended while it started${lastWords(log)}`, { remedy: `Its log is ${log}.` })
}

function remember({ layout, running, url, port }: Plane): void {
  const pids = Object.fromEntries([...running].map(([name, { pid }]) => [name, pid]))
  writeState(layout, { server: url, port, pids })
}

async function stopAll({ running, layout }: Plane): Promise<void> {
  for (const { name, pid, hasExited } of [...running.values()].reverse()) {
    await endServer(pid)
    // The keeper goes a moment after its server. Asking keeps this process alive; a child that is let go would not.
    await waitUntil(hasExited, { what: `${name} has ended` })
  }
  rmSync(layout.state, { force: true })
}

/** Ends what was started detached, or was left over, in this folder; answers whether anything ran. The data stays. */
export const stopControlPlane = (dir: string): Promise<boolean> => endServersOf(layoutOf(dir))
